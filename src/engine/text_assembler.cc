#include "engine/text_assembler.h"

#include <algorithm>

namespace cairn {

namespace {

/// Bytes that a character beginning with `first` has; 0 for a byte that begins none.
std::size_t character_length(unsigned char first) noexcept {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first < 0xE0) return 2;
    if (first >= 0xE0 && first < 0xF0) return 3;
    if (first >= 0xF0 && first < 0xF5) return 4;
    return 0;
}

bool continues(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

std::size_t whole_characters(std::string_view text) noexcept {
    // Only the last three bytes can belong to a character that is not complete.
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const char byte = text[text.size() - back];
        if (continues(byte)) continue;
        return character_length(static_cast<unsigned char>(byte)) > back ? text.size() - back : text.size();
    }
    return text.size();
}

TextAssembler::TextAssembler(std::vector<std::string> stops) : stops_(std::move(stops)) {
    std::erase_if(stops_, [](const std::string &stop) { return stop.empty(); });
    for (const std::string &stop : stops_)
        longest_stop_ = std::max(longest_stop_, stop.size());
}

TextAssembler::Output TextAssembler::release(std::size_t bytes) {
    Output output;
    output.text = held_.substr(0, bytes);
    held_.erase(0, bytes);
    while (!ends_.empty() && ends_.front() <= bytes) {
        ends_.pop_front();
        ++output.tokens;
    }
    for (std::size_t &end : ends_)
        end -= bytes;
    return output;
}

std::size_t TextAssembler::possible_stop() const {
    const std::size_t from = held_.size() >= longest_stop_ ? held_.size() - longest_stop_ + 1 : 0;
    for (std::size_t at = longest_stop_ == 0 ? held_.size() : from; at < held_.size(); ++at) {
        const std::string_view tail = std::string_view(held_).substr(at);
        for (const std::string &stop : stops_) {
            if (stop.size() > tail.size() && std::string_view(stop).starts_with(tail)) return at;
        }
    }
    return held_.size();
}

TextAssembler::Output TextAssembler::add(std::string_view piece) {
    const std::size_t before = held_.size();
    held_ += piece;
    ends_.push_back(held_.size());
    std::size_t stop_at = std::string::npos;
    for (const std::string &stop : stops_) {
        // What was held before held no whole stop, so one must end in the new piece.
        const std::size_t from = before >= stop.size() ? before - stop.size() + 1 : 0;
        stop_at = std::min(stop_at, held_.find(stop, from));
    }
    if (stop_at != std::string::npos) {
        Output output = release(stop_at);
        output.stopped = true;
        held_.clear();
        ends_.clear();
        return output;
    }
    return release(std::min(whole_characters(held_), possible_stop()));
}

TextAssembler::Output TextAssembler::finish() {
    const std::size_t whole = whole_characters(held_);
    Output output = release(held_.size());
    if (whole < output.text.size()) {
        output.text.resize(whole);
        output.text += "\xEF\xBF\xBD";
    }
    return output;
}

}  // namespace cairn
