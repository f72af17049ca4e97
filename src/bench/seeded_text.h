// Seeded text: English-like words, the same for the same seeds on every machine.
//
//     seeded_text(12, "edits/question 3", 1)    // "Harbour the winter under carries. ..."
//
// Sentences of 6 to 14 common words; a tokenizer for English makes some 1.3 tokens of each. Texts of two names differ
// from their first words on. Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/workload.h"

namespace cairn {

[[nodiscard]] std::string seeded_text(unsigned words, std::string_view name, std::uint64_t seed);

/// What makes texts out of a workload's plans. `space` keeps workloads apart: their seeds have different texts.
struct TextSource {
    std::string space;
    std::uint64_t seed = 1;
    double scale = 1;  ///< multiplies the words of seeded texts

    [[nodiscard]] std::string text_of(const TextPlan &plan) const;
};

}  // namespace cairn
