// make_fixture VOCABULARY.gguf FOLDER: writes the tiny models that tests use.
// make_fixture VOCABULARY.gguf FOLDER NAME: writes a model that benches use, of a real one's shape, at Q8_0:
// qwen35-0.8b or nemotron-h.
//
//     make_fixture models/demo.gguf build/fixtures
//
// Random weights from the names of the tensors, so that every run gives the same files; the tokenizer and the chat
// template of VOCABULARY.gguf. Files are written aside and renamed: a reader never sees half of one.
//
//     qwen35.gguf, nemotron_h.gguf  hybrid       qwen3.gguf    attention
//     gemma3.gguf                   window of 32 mamba2.gguf   recurrent
//     qwen3_q8_0.gguf  qwen3.gguf, quantised     qwen3_lora.gguf  an adapter for it
//
// The scales are chosen so that logits depend on the whole prefix: tokens are small against what the layers add, and
// recurrent states decay slowly.

#include <ggml-backend.h>
#include <ggml.h>
#include <gguf.h>
#include <llama.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

[[noreturn]] void die(const std::string &what) {
    std::fprintf(stderr, "make_fixture: %s\n", what.c_str());
    std::exit(1);
}

struct GgufDeleter {
    void operator()(gguf_context *context) const { gguf_free(context); }
};
using Gguf = std::unique_ptr<gguf_context, GgufDeleter>;

// -- weights --------------------------------------------------------------------------------------------------------

// Uniform numbers in [-1, 1) from a name: FNV-1a for the seed, then xorshift64*.
class NamedRandom {
public:
    explicit NamedRandom(std::string_view name) {
        for (const char c : name)
            state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        state_ |= 1;
    }
    float next() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        const std::uint64_t bits = (state_ * 0x2545f4914f6cdd1du) >> 40;
        return static_cast<float>(bits) / 8388608.0f - 1.0f;
    }

private:
    std::uint64_t state_ = 0xcbf29ce484222325u;
};

float weight(std::string_view name, const ggml_tensor &tensor, NamedRandom &random) {
    const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    const float x = random.next();
    const float variance_one = 1.7320508f * x;
    if (has("ssm_a") && !has("alpha")) return -0.08f - 0.07f * x;  // decay per unit of time
    if (has("ssm_dt")) return -1.0f + x;                           // softplus of it: the unit of time
    if (has("ssm_d")) return 0.2f;                                 // what bypasses the state
    if (has("ssm_conv1d.weight")) return 0.6f * variance_one;
    if (has("norm")) return 1.0f + 0.1f * x;
    if (has(".bias")) return 0.1f * x;
    if (has("token_embd")) return 0.02f * variance_one;
    const float scale = name.starts_with("output") ? 3.0f : 1.2f;
    return scale * variance_one / std::sqrt(static_cast<float>(tensor.ne[0]));
}

void fill(ggml_tensor *tensor, void *) {
    if (tensor->type != GGML_TYPE_F32) die(std::string("a tensor that is not f32: ") + tensor->name);
    NamedRandom random(tensor->name);
    std::vector<float> values(static_cast<std::size_t>(ggml_nelements(tensor)));
    for (float &value : values)
        value = weight(tensor->name, *tensor, random);
    ggml_backend_tensor_set(tensor, values.data(), 0, ggml_nbytes(tensor));
}

// -- shapes ---------------------------------------------------------------------------------------------------------

class Shape {
public:
    Shape(const gguf_context &vocabulary, std::string architecture)
        : architecture_(std::move(architecture)), meta_(gguf_init_empty()) {
        gguf_set_kv(meta_.get(), &vocabulary);
        for (std::int64_t i = gguf_get_n_kv(meta_.get()); i-- > 0;) {
            const std::string key = gguf_get_key(meta_.get(), i);
            if (!key.starts_with("tokenizer.")) gguf_remove_key(meta_.get(), key.c_str());
        }
        const std::int64_t tokens = gguf_find_key(meta_.get(), "tokenizer.ggml.tokens");
        if (tokens < 0) die("the vocabulary file has no tokens");
        gguf_set_val_str(meta_.get(), "general.architecture", architecture_.c_str());
        gguf_set_val_str(meta_.get(), "general.name", ("fixture " + architecture_).c_str());
        number("vocab_size", static_cast<std::uint32_t>(gguf_get_arr_n(meta_.get(), tokens)));
        number("context_length", 8192);
        number("embedding_length", 128);
        real("attention.layer_norm_rms_epsilon", 1e-6f);
    }

    Shape &number(const char *key, std::uint32_t value) {
        gguf_set_val_u32(meta_.get(), full(key).c_str(), value);
        return *this;
    }
    Shape &real(const char *key, float value) {
        gguf_set_val_f32(meta_.get(), full(key).c_str(), value);
        return *this;
    }
    Shape &numbers(const char *key, const std::vector<std::uint32_t> &values) {
        gguf_set_arr_data(meta_.get(), full(key).c_str(), GGUF_TYPE_UINT32, values.data(), values.size());
        return *this;
    }
    Shape &attention(std::uint32_t heads, std::uint32_t kv_heads) {
        number("attention.head_count", heads).number("attention.head_count_kv", kv_heads);
        return head_size();
    }
    Shape &head_size() {
        number("attention.key_length", 32).number("attention.value_length", 32).number("rope.dimension_count", 32);
        return real("rope.freq_base", 10000.0f);
    }
    Shape &recurrent(std::uint32_t inner, std::uint32_t state, std::uint32_t heads, std::uint32_t groups) {
        number("ssm.conv_kernel", 4).number("ssm.inner_size", inner).number("ssm.state_size", state);
        return number("ssm.time_step_rank", heads).number("ssm.group_count", groups);
    }

    [[nodiscard]] gguf_context *meta() const { return meta_.get(); }

private:
    [[nodiscard]] std::string full(const char *key) const { return architecture_ + "." + key; }

    std::string architecture_;
    Gguf meta_;
};

Shape qwen35(const gguf_context &vocabulary) {
    Shape shape(vocabulary, "qwen35");
    shape.number("block_count", 4).number("feed_forward_length", 192).attention(4, 2).recurrent(128, 32, 4, 2);
    return std::move(shape.number("full_attention_interval", 2).numbers("rope.dimension_sections", {6, 5, 5, 0}));
}

// Qwen3.5-0.8B, with the vocabulary that was given in place of its own.
Shape qwen35_800m(const gguf_context &vocabulary) {
    Shape shape(vocabulary, "qwen35");
    shape.number("context_length", 262144).number("embedding_length", 1024).number("block_count", 24);
    shape.number("feed_forward_length", 3584).attention(8, 2).recurrent(2048, 128, 16, 16);
    shape.number("attention.key_length", 256).number("attention.value_length", 256).number("rope.dimension_count", 64);
    return std::move(shape.number("full_attention_interval", 4).numbers("rope.dimension_sections", {11, 11, 10, 0}));
}

// The layers of Nemotron-H-8B (24 Mamba-2, 24 feed-forward, 4 attention) at three eighths of its width: 0.9B.
Shape nemotron_h_900m(const gguf_context &vocabulary) {
    constexpr std::string_view kLayers = "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-";
    std::vector<std::uint32_t> feed_forward, kv_heads;
    for (const char layer : kLayers) {
        feed_forward.push_back(layer == '-' ? 6144 : 0);
        kv_heads.push_back(layer == '*' ? 4 : 0);
    }
    const auto layers = static_cast<std::uint32_t>(kLayers.size());
    Shape shape(vocabulary, "nemotron_h");
    shape.number("block_count", layers).number("embedding_length", 1536).numbers("feed_forward_length", feed_forward);
    shape.numbers("attention.head_count", std::vector<std::uint32_t>(layers, 16));
    shape.numbers("attention.head_count_kv", kv_heads).real("attention.layer_norm_epsilon", 1e-5f);
    shape.number("attention.key_length", 128).number("attention.value_length", 128);
    shape.number("rope.dimension_count", 128).number("context_length", 262144);
    return std::move(shape.recurrent(3072, 128, 48, 8));
}

Shape nemotron_h(const gguf_context &vocabulary) {
    Shape shape(vocabulary, "nemotron_h");
    // A layer is recurrent, attention or feed-forward: M * - M *
    shape.number("block_count", 5).numbers("feed_forward_length", {0, 0, 192, 0, 0});
    shape.numbers("attention.head_count", {4, 4, 4, 4, 4}).numbers("attention.head_count_kv", {0, 2, 0, 0, 2});
    shape.head_size().real("attention.layer_norm_epsilon", 1e-5f);
    return std::move(shape.recurrent(256, 32, 8, 2));
}

Shape qwen3(const gguf_context &vocabulary) {
    Shape shape(vocabulary, "qwen3");
    return std::move(shape.number("block_count", 3).number("feed_forward_length", 192).attention(4, 2));
}

Shape gemma3(const gguf_context &vocabulary) {
    Shape shape(vocabulary, "gemma3");
    shape.number("block_count", 4).number("feed_forward_length", 192).attention(4, 2);
    return std::move(shape.number("attention.sliding_window", 32).number("attention.sliding_window_pattern", 2));
}

Shape mamba2(const gguf_context &vocabulary) {
    Shape shape(vocabulary, "mamba2");
    shape.number("block_count", 3).number("feed_forward_length", 0);
    shape.number("attention.head_count", 0);
    return std::move(shape.recurrent(256, 32, 8, 2));
}

// -- files ----------------------------------------------------------------------------------------------------------

// Has `write` make a file beside `path`, and then gives it that name.
void write_aside(const fs::path &path, const std::function<void(const std::string &)> &write) {
    std::error_code error;
    const fs::path aside = path.string() + "." + std::to_string(::getpid()) + ".part";
    write(aside.string());
    if (!fs::exists(aside)) die("nothing was written to " + aside.string());
    fs::rename(aside, path, error);
    if (error) die("cannot rename " + aside.string() + ": " + error.message());
}

void write_model(const Shape &shape, const fs::path &path) {
    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = 0;
    llama_model *model = llama_model_init_from_user(shape.meta(), fill, nullptr, params);
    if (model == nullptr) die("libllama refuses the shape of " + path.string());
    const std::string saved = path.string() + "." + std::to_string(::getpid()) + ".saved";
    llama_model_save_to_file(model, saved.c_str());
    llama_model_free(model);
    // libllama saves what it knows, and a chat template is not among it: write the file again with all metadata.
    ggml_context *tensors = nullptr;
    const Gguf file(gguf_init_from_file(saved.c_str(), {.no_alloc = false, .ctx = &tensors}));
    if (!file) die("cannot read " + saved);
    gguf_set_kv(file.get(), shape.meta());
    write_aside(path, [&](const std::string &aside) {
        const Gguf whole(gguf_init_empty());
        gguf_set_kv(whole.get(), file.get());
        for (ggml_tensor *t = ggml_get_first_tensor(tensors); t != nullptr; t = ggml_get_next_tensor(tensors, t)) {
            // The reader's context has one more tensor that stands for all the data of the file.
            if (gguf_find_tensor(file.get(), t->name) >= 0) gguf_add_tensor(whole.get(), t);
        }
        if (!gguf_write_to_file(whole.get(), aside.c_str(), false)) die("cannot write " + aside);
    });
    ggml_free(tensors);
    fs::remove(saved);
}

void write_quantised(const fs::path &from, const fs::path &to) {
    llama_model_quantize_params params = llama_model_quantize_default_params();
    params.ftype = LLAMA_FTYPE_MOSTLY_Q8_0;
    params.nthread = 1;
    write_aside(to, [&](const std::string &aside) {
        if (llama_model_quantize(from.c_str(), aside.c_str(), &params) != 0) die("cannot quantise " + from.string());
    });
}

// A LoRA adapter of rank 4 for one matrix of qwen3.gguf.
void write_adapter(const fs::path &path) {
    constexpr std::int64_t kIn = 192, kOut = 128, kRank = 4;
    const Gguf file(gguf_init_empty());
    gguf_set_val_str(file.get(), "general.type", "adapter");
    gguf_set_val_str(file.get(), "general.architecture", "qwen3");
    gguf_set_val_str(file.get(), "adapter.type", "lora");
    gguf_set_val_f32(file.get(), "adapter.lora.alpha", 8.0f);
    ggml_context *tensors = ggml_init({.mem_size = 1 << 20, .mem_buffer = nullptr, .no_alloc = false});
    const auto add = [&](const char *name, std::int64_t columns, std::int64_t rows) {
        ggml_tensor *tensor = ggml_new_tensor_2d(tensors, GGML_TYPE_F32, columns, rows);
        ggml_set_name(tensor, name);
        NamedRandom random(name);
        auto *values = static_cast<float *>(tensor->data);
        std::generate_n(values, columns * rows, [&] { return 0.3f * random.next(); });
        gguf_add_tensor(file.get(), tensor);
    };
    add("blk.0.ffn_down.weight.lora_a", kIn, kRank);
    add("blk.0.ffn_down.weight.lora_b", kRank, kOut);
    write_aside(path, [&](const std::string &aside) {
        if (!gguf_write_to_file(file.get(), aside.c_str(), false)) die("cannot write " + aside);
    });
    ggml_free(tensors);
}

/// A model of a real one's size: it exists in full for a moment only.
void write_bench_model(const Shape &shape, const fs::path &path) {
    const fs::path full = path.string() + ".f32";
    write_model(shape, full);
    write_quantised(full, path);
    fs::remove(full);
}

void only_errors(ggml_log_level level, const char *text, void *) {
    if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
}

}  // namespace

int main(int argc, char **argv) {
    const std::string_view bench = argc == 4 ? argv[3] : "";
    const bool known = bench == "qwen35-0.8b" || bench == "nemotron-h";
    if (argc != 3 && !known) die("usage: make_fixture VOCABULARY.gguf FOLDER [qwen35-0.8b | nemotron-h]");
    const fs::path folder = argv[2];
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) die("cannot make " + folder.string() + ": " + error.message());
    llama_log_set(only_errors, nullptr);
    llama_backend_init();
    const Gguf vocabulary(gguf_init_from_file(argv[1], {.no_alloc = true, .ctx = nullptr}));
    if (!vocabulary) die(std::string("cannot read the vocabulary of ") + argv[1]);
    if (known) {
        const Shape shape = bench == "nemotron-h" ? nemotron_h_900m(*vocabulary) : qwen35_800m(*vocabulary);
        write_bench_model(shape, folder / (std::string(bench) + ".gguf"));
        return 0;
    }
    write_model(qwen35(*vocabulary), folder / "qwen35.gguf");
    write_model(nemotron_h(*vocabulary), folder / "nemotron_h.gguf");
    write_model(qwen3(*vocabulary), folder / "qwen3.gguf");
    write_model(gemma3(*vocabulary), folder / "gemma3.gguf");
    write_model(mamba2(*vocabulary), folder / "mamba2.gguf");
    write_quantised(folder / "qwen3.gguf", folder / "qwen3_q8_0.gguf");
    write_adapter(folder / "qwen3_lora.gguf");
    llama_backend_free();
    return 0;
}
