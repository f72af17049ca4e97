// The OpenAI wire formats <-> typed requests. Pure: no sockets, no engine; the server connects the two.
//
//     auto call = parse_chat_completion(body, context);      // typed, validated, tokenized
//     ResponseWriter writer(*call, context, id, created);
//     writer.started(report); text = writer.delta(...); ...  // JSON or SSE chunks
//
// Threads: parse functions are safe from any thread; a writer belongs to one request.
// Errors: invalid_argument with the name of the field and what it should be; context_length; all in the OpenAI error
// shape by error_body(). Unknown fields are ignored, as clients send fields of many servers; a known field of the wrong
// type is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/chat_template.h"
#include "cairn/error.h"
#include "cairn/request.h"
#include "model/backend.h"
#include "model/vocabulary.h"

namespace cairn {

/// What the wire formats need to know; outlives every call made with it.
struct ApiContext {
    const Vocabulary &vocabulary;
    const ChatTemplate &chat_template;
    const ModelInfo &model;
    BackendLimits limits;
    std::string model_name;  ///< shown to clients: the alias, or the model's own name
};

enum class CallKind : std::uint8_t { chat, completion };

/// One HTTP call: one engine request per choice.
struct ApiCall {
    CallKind kind = CallKind::chat;
    bool stream = false;
    bool include_usage = false;          ///< stream_options.include_usage
    bool echo = false;                   ///< completions only: the answer begins with the prompt
    std::vector<std::string> echo_text;  ///< per choice, when echo
    std::vector<Request> requests;       ///< choices in order of their index: prompts x n
    std::size_t choices_per_prompt = 1;  ///< n: usage counts each prompt once
};

[[nodiscard]] Result<ApiCall> parse_chat_completion(std::string_view body, const ApiContext &context);
[[nodiscard]] Result<ApiCall> parse_completion(std::string_view body, const ApiContext &context);

/// {"error": {"message", "type", "code", "param"}} as text.
[[nodiscard]] std::string error_body(const Error &error);
[[nodiscard]] std::string models_body(const ApiContext &context, std::int64_t created);
/// The value of the header `x-cairn-cache`: what was reused, from which tier, and if less than all, why. One report per
/// choice, joined by ", ". Example: `hit; cached=1505; prompt=1611; tier=ram; reason=diverged; difference=1505`
[[nodiscard]] std::string cache_header(const std::vector<ReuseReport> &reports);

/// Makes the answer of one call, streamed or whole, from the events of its choices.
class ResponseWriter {
public:
    ResponseWriter(const ApiCall &call, const ApiContext &context, std::string id, std::int64_t created);
    ~ResponseWriter();

    /// What to send now: SSE text ("data: {...}\n\n", also several), empty where nothing is due or the call is not
    /// streamed.
    [[nodiscard]] std::string begin(std::size_t choice);
    [[nodiscard]] std::string delta(std::size_t choice, std::string_view text,
                                    const std::vector<TokenLogprobs> &logprobs);
    [[nodiscard]] std::string finish(std::size_t choice, FinishReason reason, const Usage &usage,
                                     const Timings &timings);
    /// An error after the stream has begun, as an SSE event.
    [[nodiscard]] std::string failed(const Error &error);
    /// After every choice has finished: SSE: the usage chunk if asked for, and "data: [DONE]\n\n". Else the whole body.
    [[nodiscard]] std::string end();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace cairn
