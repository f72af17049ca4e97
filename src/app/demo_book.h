// DemoBook: the handbook of `cairn demo` and the questions on it, compiled into the binary from tools/demo/.
//
//     Result<DemoBook> book = DemoBook::load();
//     for (const DemoQuestion &question : book->pick(12)) ...
//
// Ownership: an owned copy of the embedded texts. Threads: a plain value.
// Errors: invalid_argument where the embedded questions are not what tools/demo/gen_corpus.py writes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/error.h"

namespace cairn {

/// The texts as they stand in tools/demo/; cmake/EmbedText.cmake makes their definitions.
extern const std::string_view kDemoHandbookText;
extern const std::string_view kDemoQuestionsText;

struct DemoQuestion {
    int id = 0;  ///< place in questions.json, from 0
    std::string question;
    std::string answer;    ///< the one expected answer, to the letter
    std::string relation;  ///< what kind of fact is asked for
};

struct DemoBook {
    /// How many questions `cairn demo` asks unless told otherwise.
    static constexpr std::size_t kSampleSize = 12;

    std::string system_prompt;            ///< the instruction and the handbook: the prefix all questions share
    std::vector<DemoQuestion> questions;  ///< in the order of questions.json

    /// The book that is compiled in.
    [[nodiscard]] static Result<DemoBook> load();
    /// A book from the text of a handbook and the JSON of its questions.
    [[nodiscard]] static Result<DemoBook> parse(std::string_view handbook, std::string_view questions_json);
    /// `count` questions: first a fixed sample of one question per kind of fact, then the others in order.
    [[nodiscard]] std::vector<DemoQuestion> pick(std::size_t count) const;
};

}  // namespace cairn
