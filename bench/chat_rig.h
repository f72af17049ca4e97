// ChatRig: what turns a chat request into tokens and tokens into events, over one backend; and conversations of any
// length. For benches.
//
//     ChatRig rig(backend);
//     auto prompt = rig.chat_template->render(conversation(20));
//     auto call = parse_chat_completion(conversation_body(20), rig.api);
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "api/api.h"
#include "model/backend.h"

namespace cairn {

/// A system prompt and messages of user and assistant in turn; the last one is a user's where `messages` is even.
inline ChatInput conversation(int messages) {
    ChatInput input;
    for (int i = 0; i < messages; ++i) {
        std::string text = "Message " + std::to_string(i) + ".";
        for (int sentence = 0; sentence < (i == 0 ? 20 : 5); ++sentence)
            text += " The gate of room " + std::to_string(100 + sentence) + " is opened by the porter at nine.";
        const char *role = i == 0 ? "system" : i % 2 == 1 ? "user" : "assistant";
        input.messages.push_back({.role = role, .content = std::move(text)});
    }
    return input;
}

/// The same as the body of a streamed chat completion.
inline std::string conversation_body(int messages) {
    nlohmann::json list = nlohmann::json::array();
    for (const ChatMessage &message : conversation(messages).messages)
        list.push_back({{"role", message.role}, {"content", message.content}});
    return nlohmann::json({{"model", "bench"}, {"messages", list}, {"stream", true}, {"max_tokens", 16}}).dump();
}

struct ChatRig {
    explicit ChatRig(const Backend &backend)
        : chat_template(ChatTemplate::create(backend.info().chat_template, backend.vocabulary()).value()),
          api{backend.vocabulary(), *chat_template, backend.info(), backend.limits(), "bench"} {}

    std::unique_ptr<ChatTemplate> chat_template;
    ApiContext api;
};

}  // namespace cairn
