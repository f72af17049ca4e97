#include "api/api.h"
#include "api/chat_messages.h"
#include "api/common_fields.h"

namespace cairn {

namespace {

/// `logprobs` switches them on, `top_logprobs` says how many alternatives.
std::optional<int> read_logprobs(FieldReader &fields) {
    const bool on = fields.boolean("logprobs").value_or(false);
    const auto top = fields.integer("top_logprobs", 0, 20);
    if (top && *top > 0 && !on) fields.must_be("logprobs", "true where 'top_logprobs' is given");
    return on ? std::optional(static_cast<int>(top.value_or(0))) : std::nullopt;
}

}  // namespace

Result<ApiCall> parse_chat_completion(std::string_view body, const ApiContext &context) {
    const auto json = parse_object(body);
    if (!json) return fail(json.error());
    FirstError error;
    FieldReader fields(*json, "", error);
    const ChatInput input = read_chat_input(fields, error);
    CommonFields common = read_common(fields, error, context);
    common.request.logprobs = read_logprobs(fields);
    if (error) return fail(error.take());

    auto prompt = context.chat_template.render(input);
    if (!prompt) return fail(prompt.error());
    ApiCall call;
    call.kind = CallKind::chat;
    call.stream = common.stream;
    call.include_usage = common.include_usage;
    call.choices_per_prompt = common.n;
    if (auto added =
            add_choices(call, common, std::move(prompt->tokens), std::move(prompt->checkpoints), context, "messages");
        !added) {
        return fail(added.error());
    }
    return call;
}

}  // namespace cairn
