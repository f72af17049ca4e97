#include "server/answer.h"

#include <utility>

#include "base/check.h"

namespace cairn {

Answer::Answer(const ApiCall &call, const ApiContext &api, std::string id, std::int64_t created)
    : writer_(call, api, std::move(id), created), choices_(call.requests.size()) {}

void Answer::add(const GenerationEvent &event) {
    CAIRN_CHECK(event.choice < choices_.size(), "event of choice {} of {}", event.choice, choices_.size());
    if (error_) return;
    std::visit([&](const auto &what) { on(event.choice, what); }, event.what);
}

void Answer::on(std::size_t choice, const GenerationEvent::Started &event) {
    CAIRN_CHECK(!choices_[choice].report, "choice {} started twice", choice);
    choices_[choice].report = event.report;
    ++started_;
    text_ += writer_.begin(choice);
}

void Answer::on(std::size_t choice, const GenerationEvent::Delta &event) {
    text_ += writer_.delta(choice, event.text, event.logprobs);
}

void Answer::on(std::size_t choice, const GenerationEvent::Finished &event) {
    CAIRN_CHECK(!choices_[choice].finished, "choice {} finished twice", choice);
    choices_[choice].finished = true;
    // Nobody here has asked for it: a call that is given up is not listened to any more.
    if (event.reason == FinishReason::cancelled) {
        error_ = Error{ErrorCode::shutting_down,
                       "the answer was cut off because the server is shutting down: send the request again later"};
        return;
    }
    CAIRN_CHECK(choices_[choice].report, "choice {} finished and never started", choice);
    ++finished_;
    text_ += writer_.finish(choice, event.reason, event.usage, event.timings);
}

void Answer::on(std::size_t, const GenerationEvent::Failed &event) {
    error_ = event.error;
}

std::string Answer::cache_header() const {
    std::vector<ReuseReport> reports;
    for (const Choice &choice : choices_) {
        if (choice.report) reports.push_back(*choice.report);
    }
    return cairn::cache_header(reports);
}

std::string Answer::take_text() {
    return std::exchange(text_, {});
}

}  // namespace cairn
