// Owning handles of libllama's and gguf's objects.
#pragma once

#include <gguf.h>
#include <llama.h>

#include <memory>

namespace cairn {

struct LlamaDeleter {
    void operator()(llama_model *model) const { llama_model_free(model); }
    void operator()(llama_context *context) const { llama_free(context); }
    void operator()(llama_sampler *sampler) const { llama_sampler_free(sampler); }
    void operator()(llama_adapter_lora *adapter) const { llama_adapter_lora_free(adapter); }
    void operator()(gguf_context *file) const { gguf_free(file); }
};

using ModelHandle = std::unique_ptr<llama_model, LlamaDeleter>;
using ContextHandle = std::unique_ptr<llama_context, LlamaDeleter>;
using SamplerHandle = std::unique_ptr<llama_sampler, LlamaDeleter>;
using AdapterHandle = std::unique_ptr<llama_adapter_lora, LlamaDeleter>;
using GgufHandle = std::unique_ptr<gguf_context, LlamaDeleter>;

}  // namespace cairn
