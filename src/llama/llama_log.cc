#include "llama/llama_log.h"

#include <llama.h>

#include <mutex>

namespace cairn {

namespace {

constexpr std::size_t kMostErrorBytes = 2000;

thread_local std::string *current_capture = nullptr;

void on_log(ggml_log_level level, const char *text, void * /*user*/) {
    if (level != GGML_LOG_LEVEL_ERROR || current_capture == nullptr || text == nullptr) return;
    std::string line = text;
    while (!line.empty() && (line.back() == '\n' || line.back() == ' '))
        line.pop_back();
    if (line.empty() || current_capture->size() + line.size() > kMostErrorBytes) return;
    if (!current_capture->empty()) *current_capture += "; ";
    *current_capture += line;
}

}  // namespace

void init_llama_once() {
    static std::once_flag once;
    std::call_once(once, [] {
        llama_log_set(on_log, nullptr);
        llama_backend_init();
    });
}

LlamaLogCapture::LlamaLogCapture() : outer_(current_capture) {
    current_capture = &errors_;
}

LlamaLogCapture::~LlamaLogCapture() {
    current_capture = outer_;
}

}  // namespace cairn
