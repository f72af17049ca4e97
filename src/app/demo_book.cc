#include "app/demo_book.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace cairn {
namespace {

// One question per kind of fact, all of them ones that the demo model answers right without any cache, so that a wrong
// answer in the table is worth a second look.
constexpr std::array<int, DemoBook::kSampleSize> kSample{0, 3, 7, 12, 13, 18, 21, 25, 31, 37, 57, 71};

// What the demo model saw before its handbooks in training.
constexpr std::string_view kInstruction = "You answer questions about the handbook.\n\n";

std::string_view without_trailing_newlines(std::string_view text) {
    while (!text.empty() && text.back() == '\n')
        text.remove_suffix(1);
    return text;
}

}  // namespace

Result<DemoBook> DemoBook::load() {
    return parse(kDemoHandbookText, kDemoQuestionsText);
}

Result<DemoBook> DemoBook::parse(std::string_view handbook, std::string_view questions_json) {
    DemoBook book;
    book.system_prompt = std::string(kInstruction).append(without_trailing_newlines(handbook));
    const nlohmann::json rows = nlohmann::json::parse(questions_json, nullptr, /*allow_exceptions=*/false);
    if (!rows.is_array() || rows.empty()) {
        return fail(ErrorCode::invalid_argument, "the questions of the demo are not a JSON array with entries");
    }
    for (const nlohmann::json &row : rows) {
        DemoQuestion question{
            .id = static_cast<int>(book.questions.size()), .question = {}, .answer = {}, .relation = {}};
        for (auto [name, member] : {std::pair{"question", &question.question}, std::pair{"answer", &question.answer},
                                    std::pair{"relation", &question.relation}}) {
            if (!row.is_object() || !row.contains(name) || !row[name].is_string()) {
                return fail(ErrorCode::invalid_argument, "question {} of the demo has no text named \"{}\"",
                            question.id, name);
            }
            *member = row[name].get<std::string>();
        }
        if (question.question.size() < 2) {
            return fail(ErrorCode::invalid_argument, "question {} of the demo is too short to be one", question.id);
        }
        book.questions.push_back(std::move(question));
    }
    return book;
}

std::vector<DemoQuestion> DemoBook::pick(std::size_t count) const {
    std::vector<DemoQuestion> order;
    const auto in_sample = [](int id) { return std::find(kSample.begin(), kSample.end(), id) != kSample.end(); };
    for (int id : kSample) {
        if (static_cast<std::size_t>(id) < questions.size()) order.push_back(questions[static_cast<std::size_t>(id)]);
    }
    for (const DemoQuestion &question : questions) {
        if (!in_sample(question.id)) order.push_back(question);
    }
    order.resize(std::min(count, order.size()));
    return order;
}

}  // namespace cairn
