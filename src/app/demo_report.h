// DemoReport: what `cairn demo` found out, its verdict, and how it is shown. Pure: rows in, text out.
//
//     DemoReport report{.model = "Handbook demo", .handbook_tokens = 2461, .rows = rows};
//     std::string text = demo_table(report);      // for people
//     std::string json = demo_json(report);       // one document for machines
//     bool good = demo_problems(report).empty();  // the exit status
//
// What must hold whatever the model knows: a warm answer has the tokens of the cold one, and a warm question did not
// compute the handbook again. Whether an answer is right is the model's affair and no part of the verdict.
// Threads: plain values and pure functions. Errors: none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cairn/request.h"
#include "cairn/types.h"

namespace cairn {

enum class DemoMode : std::uint8_t { cold, warm };

[[nodiscard]] constexpr const char *name_of(DemoMode mode) noexcept {
    return mode == DemoMode::cold ? "cold" : "warm";
}

/// Where a warm question was to resume.
enum class DemoCut : std::uint8_t {
    none,             ///< cold: nothing to resume
    handbook_end,     ///< attention alone finds the answer from here
    inside_question,  ///< only a right recurrent state gives the right answer
};

/// The words for it in the table and in JSON; empty for none.
[[nodiscard]] constexpr const char *name_of(DemoCut cut) noexcept {
    switch (cut) {
        case DemoCut::none: return "";
        case DemoCut::handbook_end: return "end of handbook";
        case DemoCut::inside_question: return "inside question";
    }
    return "";
}

/// One question asked once.
struct DemoRow {
    int id = 0;
    std::string question;
    std::string expected;
    DemoMode mode = DemoMode::cold;
    DemoCut cut = DemoCut::none;
    TokenSpan resume_at;  ///< warm: the positions at which it may resume, [begin, end)
    ReuseReport reuse;
    double first_token_ms = 0;  ///< from asking to the first piece of the answer
    std::string answer;
    Tokens answer_tokens;
    bool equals_cold = true;  ///< the same tokens as the cold answer

    [[nodiscard]] bool right() const { return answer == expected; }
};

struct DemoReport {
    std::string model;
    bool demo_model = true;  ///< false: somebody else's model, which may not know the answers
    TokenPos handbook_tokens = 0;
    std::vector<DemoRow> rows;  ///< per question: cold, then warm
};

/// The numbers behind the last lines of the table.
struct DemoSummary {
    int questions = 0;
    int right_cold = 0;
    int right_warm = 0;
    bool all_equal = true;    ///< every warm answer equals its cold one
    bool all_covered = true;  ///< every warm question reused the whole handbook
    double cold_ms = 0;       ///< median time to the first token
    double warm_ms = 0;
    std::optional<double> speed_up;  ///< cold_ms / warm_ms; none where that is no number
};

[[nodiscard]] DemoSummary demo_summary(const DemoReport &report);
/// One sentence for each thing that must hold and does not; empty: all is well.
[[nodiscard]] std::vector<std::string> demo_problems(const DemoReport &report);
[[nodiscard]] std::string demo_table(const DemoReport &report);
[[nodiscard]] std::string demo_json(const DemoReport &report);

}  // namespace cairn
