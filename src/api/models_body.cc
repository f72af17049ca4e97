#include "api/api.h"

#include "api/field_reader.h"
#include "base/json_text.h"

namespace cairn {

std::string models_body(const ApiContext &context, std::int64_t created) {
    const Json meta = {{"architecture", context.model.architecture},
                       {"description", context.model.description},
                       {"n_vocab", context.vocabulary.size()},
                       {"n_ctx", context.limits.context},
                       {"n_ctx_train", context.model.trained_context},
                       {"n_params", context.model.parameters},
                       {"size", context.model.file_bytes}};
    const Json model = {
        {"id", context.model_name}, {"object", "model"}, {"created", created}, {"owned_by", "cairn"}, {"meta", meta}};
    const Json body = {{"object", "list"}, {"data", Json::array({model})}};
    return json_text(body);
}

}  // namespace cairn
