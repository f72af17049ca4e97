#include "api/text_calls.h"

#include <optional>
#include <utility>

#include "api/chat_messages.h"
#include "api/field_reader.h"
#include "api/json_bytes.h"
#include "base/json_text.h"

namespace cairn {
namespace {

std::string with_piece(Token token, const Vocabulary &vocabulary) {
    const std::string piece = vocabulary.piece(token, true);
    return json_text(Json{{"id", token}, {"piece", is_utf8(piece) ? Json(piece) : json_bytes(piece)}});
}

/// Answers are made in memory, and are many times as long as what was asked.
Status check_count(std::size_t tokens) {
    if (tokens <= kMostTextTokens) return {};
    return fail(ErrorCode::invalid_argument, "{} tokens are too many for one call: send at most {} at a time", tokens,
                kMostTextTokens);
}

/// The value of a field that must be there.
template <class T>
T required(std::optional<T> value, FieldReader &fields, FirstError &error, const char *name, const char *what) {
    if (!value && !error) fields.must_be(name, what);
    return std::move(value).value_or(T{});
}

}  // namespace

Result<std::string> tokenize_call(std::string_view body, const ApiContext &context) {
    const auto json = parse_object(body);
    if (!json) return fail(json.error());
    FirstError error;
    FieldReader fields(*json, "", error);
    const std::string content = required(fields.text("content"), fields, error, "content", "a text");
    const bool add_special = fields.boolean("add_special").value_or(false);
    const bool parse_special = fields.boolean("parse_special").value_or(true);
    const bool with_pieces = fields.boolean("with_pieces").value_or(false);
    if (error) return fail(error.take());
    const auto tokens = context.vocabulary.tokenize(content, add_special,
                                                    parse_special ? SpecialTokens::parse : SpecialTokens::as_text);
    if (!tokens) return fail(tokens.error());
    if (auto few = check_count(tokens->size()); !few) return fail(few.error());
    if (!with_pieces) return json_text(Json{{"tokens", *tokens}});
    std::string pieces;
    for (const Token token : *tokens) {
        if (!pieces.empty()) pieces += ',';
        pieces += with_piece(token, context.vocabulary);
    }
    return "{\"tokens\":[" + pieces + "]}";
}

Result<std::string> detokenize_call(std::string_view body, const ApiContext &context) {
    const auto json = parse_object(body);
    if (!json) return fail(json.error());
    FirstError error;
    FieldReader fields(*json, "", error);
    const Json *tokens = fields.array("tokens");
    if (tokens == nullptr && !error) fields.must_be("tokens", "an array of token ids");
    if (error) return fail(error.take());
    if (auto few = check_count(tokens->size()); !few) return fail(few.error());
    std::string content;
    for (std::size_t i = 0; i < tokens->size(); ++i) {
        const auto token = integer_in((*tokens)[i], 0, context.vocabulary.size() - 1);
        if (!token) {
            return fail(ErrorCode::invalid_argument, "'tokens[{}]' must be an id from 0 to {}", i,
                        context.vocabulary.size() - 1);
        }
        content += context.vocabulary.piece(static_cast<Token>(*token), true);
    }
    return json_text(Json{{"content", content}});
}

Result<std::string> apply_template_call(std::string_view body, const ApiContext &context) {
    const auto json = parse_object(body);
    if (!json) return fail(json.error());
    FirstError error;
    FieldReader fields(*json, "", error);
    const ChatInput input = read_chat_input(fields, error);
    if (error) return fail(error.take());
    const auto text = context.chat_template.render_text(input);
    if (!text) return fail(text.error());
    return json_text(Json{{"prompt", *text}});
}

}  // namespace cairn
