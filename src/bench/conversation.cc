#include "bench/conversation.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/json_text.h"

namespace cairn {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Messages &history) {
    Json messages = Json::array();
    for (const Message &message : history) {
        Json one{{"role", message.role}, {"content", message.content}};
        if (!message.reasoning.empty()) one["reasoning_content"] = message.reasoning;
        messages.push_back(std::move(one));
    }
    return messages;
}

/// Answers are a model's: they may hold anything.
std::string text_of(const Json &json) {
    return json_text(json);
}

/// Where turn `turn`, from 1, begins.
Messages::iterator turn_at(Messages &history, unsigned turn) {
    unsigned seen = 0;
    return std::find_if(history.begin(), history.end(),
                        [&](const Message &message) { return message.role == "user" && ++seen == turn; });
}

}  // namespace

unsigned turns_of(const Messages &history) {
    return static_cast<unsigned>(
        std::count_if(history.begin(), history.end(), [](const Message &m) { return m.role == "user"; }));
}

void begin_turn(Messages &history, const Step &step, const TextSource &texts) {
    if (step.edit > 0) {
        const auto edited = turn_at(history, step.edit);
        CAIRN_CHECK(edited != history.end(), "turn {} is edited, and there are {}", step.edit, turns_of(history));
        history.erase(edited, history.end());
    }
    if (step.system) history.push_back({"system", texts.text_of(*step.system), ""});
    history.push_back({"user", texts.text_of(step.user), ""});
}

std::string chat_body(const Messages &history, unsigned max_tokens, const std::string &model,
                      std::optional<std::uint32_t> only_token) {
    Json body;
    if (!model.empty()) body["model"] = model;
    body["messages"] = json_of(history);
    body["temperature"] = 0;
    body["max_tokens"] = max_tokens;
    if (only_token) body["logit_bias"] = {{std::to_string(*only_token), 100}};
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
    return text_of(body);
}

std::string messages_body(const Messages &history) {
    return text_of({{"messages", json_of(history)}});
}

std::string plain_rendering(const Messages &history) {
    std::string text;
    for (const Message &message : history)
        text += "\x01" + message.role + "\n" + message.content + "\x02\n";
    return text + "\x01" + "assistant\n";
}

}  // namespace cairn
