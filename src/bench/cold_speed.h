// How fast a server computes what it has never seen: what ideal times are made of.
//
//     ColdSamples samples;
//     Status taken = samples.add(answers);        // of cold_prompts(0), before all else
//     (void)samples.add(more);                    // of cold_prompts(1), after it: the speed of a machine drifts
//     ColdSpeed cold = samples.speed();
//
// Threads: plain values. Errors: what to do is in the text.
#pragma once

#include <string>
#include <vector>

#include "bench/ideal.h"
#include "bench/results.h"
#include "bench/workload.h"
#include "cairn/error.h"

namespace cairn {

/// A long prompt and a short one that share nothing, a token of answer each; those of another `pass` are others.
[[nodiscard]] Workload cold_prompts(unsigned pass);

class ColdSamples {
public:
    /// The answers to cold_prompts(). io or unsupported where one of them failed, or says nothing of tokens.
    [[nodiscard]] Status add(const std::vector<RequestResult> &answers);
    /// The line through the means of both lengths; through the long one alone where the short one is not clearly
    /// quicker. At least one add() went well.
    [[nodiscard]] ColdSpeed speed() const;
    /// What makes them doubtful, once each.
    [[nodiscard]] std::vector<std::string> notes() const;

private:
    struct Sum {
        double count = 0;
        double tokens = 0;
        double seconds = 0;
    };
    Sum longer_, shorter_;
    bool warm_ = false;
    bool untold_ = false;
};

}  // namespace cairn
