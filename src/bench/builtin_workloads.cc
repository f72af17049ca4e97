#include "bench/builtin_workloads.h"

#include <span>
#include <string_view>
#include <utility>

namespace cairn {

/// File names and texts, in the order of names.
extern const std::span<const std::pair<std::string_view, std::string_view>> kBenchWorkloadTexts;

Result<std::vector<Workload>> builtin_workloads() {
    std::vector<Workload> workloads;
    for (const auto &[file, text] : kBenchWorkloadTexts) {
        auto workload = parse_workload(std::string(file), text);
        if (!workload) return fail(workload.error());
        workloads.push_back(std::move(*workload));
    }
    return workloads;
}

}  // namespace cairn
