#include <algorithm>

#include "api/api.h"
#include "api/common_fields.h"

namespace cairn {

namespace {

constexpr std::size_t kMaxChoices = 2048;  ///< of one call: prompts x n

constexpr const char *kPromptShape =
    "a string, an array of strings, an array of token ids, or an array of such arrays, none of them empty";

struct RawPrompt {
    Tokens tokens;
    std::string text;
};

/// The token ids in `ids`, or nothing (and an error) where one is none.
std::optional<RawPrompt> read_ids(const Json &ids, FieldReader &fields, const ApiContext &context) {
    RawPrompt prompt;
    prompt.tokens.reserve(ids.size());
    for (const Json &id : ids) {
        if (!id.is_number()) {
            fields.must_be("prompt", kPromptShape);
            return std::nullopt;
        }
        const auto token = integer_in(id, 0, context.vocabulary.size() - 1);
        if (!token) {
            fields.must_be("prompt", fmt::format("made of token ids between 0 and {}: {} is none",
                                                 context.vocabulary.size() - 1, id.dump()));
            return std::nullopt;
        }
        prompt.tokens.push_back(static_cast<Token>(*token));
        prompt.text += context.vocabulary.piece(prompt.tokens.back(), true);
    }
    return prompt;
}

/// A raw prompt may spell the model's control tokens.
std::optional<RawPrompt> read_text(const std::string &text, FirstError &error, const ApiContext &context) {
    auto tokens = context.vocabulary.tokenize(text, true, SpecialTokens::parse);
    if (!tokens) {
        error.add(tokens.error().code, tokens.error().what);
        return std::nullopt;
    }
    return RawPrompt{std::move(*tokens), text};
}

std::optional<RawPrompt> read_prompt(const Json &value, FieldReader &fields, FirstError &error,
                                     const ApiContext &context) {
    if (value.is_string()) return read_text(value.get_ref<const std::string &>(), error, context);
    if (value.is_array() && !value.empty()) return read_ids(value, fields, context);
    fields.must_be("prompt", kPromptShape);
    return std::nullopt;
}

std::vector<RawPrompt> read_prompts(FieldReader &fields, FirstError &error, const ApiContext &context) {
    std::vector<RawPrompt> prompts;
    const Json *value = fields.any("prompt");
    if (value == nullptr || (value->is_array() && value->empty())) {
        fields.must_be("prompt", kPromptShape);
        return prompts;
    }
    const bool several = value->is_array() && !value->front().is_number();
    if (several && value->size() > kMaxChoices) {
        fields.must_be("prompt", fmt::format("an array of at most {} prompts", kMaxChoices));
        return prompts;
    }
    const std::size_t count = several ? value->size() : 1;
    for (std::size_t i = 0; i < count && !error; ++i) {
        auto prompt = read_prompt(several ? (*value)[i] : *value, fields, error, context);
        if (prompt) prompts.push_back(std::move(*prompt));
    }
    return prompts;
}

/// What of this endpoint changes answers and is not there.
void refuse_unsupported(FieldReader &fields, const CommonFields &common, bool echo) {
    if (!fields.text("suffix").value_or("").empty()) {
        fields.unsupported("suffix", "is not supported: text cannot be filled in. Leave the field out");
    }
    const auto best_of = fields.integer("best_of", 1, 64);
    if (best_of && static_cast<std::size_t>(*best_of) != common.n) {
        fields.unsupported("best_of", "is only supported where it equals 'n'");
    }
    if (echo && common.request.logprobs) {
        fields.unsupported("echo", "together with 'logprobs' is not supported: the prompt's tokens have none");
    }
}

}  // namespace

Result<ApiCall> parse_completion(std::string_view body, const ApiContext &context) {
    const auto json = parse_object(body);
    if (!json) return fail(json.error());
    FirstError error;
    FieldReader fields(*json, "", error);
    CommonFields common = read_common(fields, error, context);
    if (const auto logprobs = fields.integer("logprobs", 0, 20)) common.request.logprobs = static_cast<int>(*logprobs);
    ApiCall call;
    call.kind = CallKind::completion;
    call.stream = common.stream;
    call.include_usage = common.include_usage;
    call.choices_per_prompt = common.n;
    call.echo = fields.boolean("echo").value_or(false);
    refuse_unsupported(fields, common, call.echo);
    std::vector<RawPrompt> prompts = read_prompts(fields, error, context);
    if (prompts.size() * common.n > kMaxChoices) {
        fields.must_be("n", fmt::format("so small that prompts times 'n' is at most {}", kMaxChoices));
    }
    if (error) return fail(error.take());
    for (RawPrompt &prompt : prompts) {
        if (auto added = add_choices(call, common, std::move(prompt.tokens), {}, context, "prompt"); !added) {
            return fail(added.error());
        }
        if (call.echo) call.echo_text.insert(call.echo_text.end(), common.n, prompt.text);
    }
    return call;
}

}  // namespace cairn
