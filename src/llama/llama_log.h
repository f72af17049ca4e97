// What libllama says while it works. Its logger is one global callback, so ours is one too: it keeps the last error
// lines of each thread, for the text of an Error, and lets nothing reach the terminal by itself.
//
//     LlamaLogCapture capture;
//     auto *model = llama_model_load_from_file(...);
//     if (model == nullptr) return fail(ErrorCode::model_file, "...: {}", capture.errors());
//
// Threads: a capture sees the lines that its own thread causes; of nested ones the innermost sees them.
#pragma once

#include <string>

namespace cairn {

class LlamaLogCapture {
public:
    LlamaLogCapture();
    ~LlamaLogCapture();
    LlamaLogCapture(const LlamaLogCapture &) = delete;
    LlamaLogCapture &operator=(const LlamaLogCapture &) = delete;

    /// Error lines since construction, joined by "; ", without line ends; empty if there were none.
    [[nodiscard]] const std::string &errors() const { return errors_; }

private:
    std::string errors_;
    std::string *outer_;
};

/// Starts libllama once in the life of the program and takes over its logger. Called by everything that opens a model.
void init_llama_once();

}  // namespace cairn
