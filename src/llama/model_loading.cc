#include "llama/model_loading.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "llama/llama_log.h"

namespace cairn {

namespace {

std::string description_of(const llama_model *model) {
    std::array<char, 256> text{};
    llama_model_desc(model, text.data(), text.size());
    std::string description = text.data();
    // A size that libllama has no name for.
    if (const auto at = description.find(" ?B"); at != std::string::npos) description.erase(at, 3);
    return description;
}

ModelInfo info_of(const llama_model *model, const GgufFile &file, const ModelConfig &config) {
    ModelInfo info;
    info.name = config.alias.empty() ? file.name() : config.alias;
    info.description = description_of(model);
    info.architecture = file.architecture();
    const char *chat_template = llama_model_chat_template(model, nullptr);
    info.chat_template = chat_template == nullptr ? "" : chat_template;
    info.file_bytes = file.total_bytes();
    info.parameters = llama_model_n_params(model);
    info.trained_context = llama_model_n_ctx_train(model);
    return info;
}

Status check_generates(const llama_model *model, const std::string &path) {
    if (llama_model_has_encoder(model) || !llama_model_has_decoder(model)) {
        return fail(ErrorCode::model_unsupported, "{} is an encoder model: cairn serves models that generate text",
                    path);
    }
    if (llama_model_is_diffusion(model)) {
        return fail(
            ErrorCode::model_unsupported,
            "{} is a diffusion model, which has no prefix to cache: cairn serves models that generate token by token",
            path);
    }
    if (llama_vocab_type(llama_model_get_vocab(model)) == LLAMA_VOCAB_TYPE_NONE) {
        return fail(ErrorCode::model_unsupported, "{} has no tokenizer: convert the model again, with its tokenizer",
                    path);
    }
    return {};
}

Status add_adapters(LoadedModel &loaded, const ModelConfig &config) {
    for (const AdapterConfig &adapter : config.adapters) {
        auto file = GgufFile::open(adapter.path);
        if (!file) return fail(file.error());
        const LlamaLogCapture log;
        AdapterHandle handle(llama_adapter_lora_init(loaded.model.get(), adapter.path.c_str()));
        if (!handle) {
            return fail(ErrorCode::model_file, "the adapter {} does not fit this model: {}", adapter.path,
                        log.errors());
        }
        loaded.adapters.push_back(std::move(handle));
        loaded.fingerprint.add("adapter", static_cast<double>(adapter.scale));
        if (auto added = file->add_to(loaded.fingerprint); !added) return added;
    }
    return {};
}

bool on_progress(float done, void *user) {
    const auto &progress = *static_cast<const LoadProgress *>(user);
    return !progress || progress(done);
}

}  // namespace

ggml_type ggml_type_of(KvType type) noexcept {
    switch (type) {
        case KvType::f32: return GGML_TYPE_F32;
        case KvType::f16: return GGML_TYPE_F16;
        case KvType::bf16: return GGML_TYPE_BF16;
        case KvType::q8_0: return GGML_TYPE_Q8_0;
        case KvType::q4_0: return GGML_TYPE_Q4_0;
        case KvType::q4_1: return GGML_TYPE_Q4_1;
        case KvType::iq4_nl: return GGML_TYPE_IQ4_NL;
        case KvType::q5_0: return GGML_TYPE_Q5_0;
        case KvType::q5_1: return GGML_TYPE_Q5_1;
    }
    return GGML_TYPE_F16;
}

Result<std::unique_ptr<LoadedModel>> load_model(const ModelConfig &config, const LoadProgress &progress) {
    auto file = GgufFile::open(config.path);
    if (!file) return fail(file.error());

    llama_model_params params = llama_model_default_params();
    params.n_gpu_layers = config.gpu_layers;
    params.load_mode = config.use_mmap ? (config.use_mlock ? LLAMA_LOAD_MODE_MMAP_MLOCK : LLAMA_LOAD_MODE_MMAP)
                                       : (config.use_mlock ? LLAMA_LOAD_MODE_MLOCK : LLAMA_LOAD_MODE_NONE);
    params.progress_callback = on_progress;
    LoadProgress callback = progress;
    params.progress_callback_user_data = &callback;

    auto loaded = std::make_unique<LoadedModel>();
    {
        const LlamaLogCapture log;
        loaded->model.reset(llama_model_load_from_file(config.path.c_str(), params));
        if (!loaded->model) {
            const std::string why = log.errors();
            if (why.empty()) return fail(ErrorCode::cancelled, "loading {} was stopped", config.path);
            const bool unknown = why.find("unknown model architecture") != std::string::npos;
            return fail(unknown ? ErrorCode::model_unsupported : ErrorCode::model_file, "cannot load {}: {}",
                        config.path, why);
        }
    }
    if (auto checked = check_generates(loaded->model.get(), config.path); !checked) return fail(checked.error());
    loaded->info = info_of(loaded->model.get(), *file, config);
    loaded->long_rope =
        file->has_tensor("rope_factors_long.weight") || file->has_tensor("blk.0.rope_factors_long.weight");
    if (auto added = file->add_to(loaded->fingerprint); !added) return fail(added.error());
    if (auto added = add_adapters(*loaded, config); !added) return fail(added.error());
    return loaded;
}

}  // namespace cairn
