// CatalogueTree: which checkpoints there are and who builds on whom, in memory, so that the database needs no index.
//
//     tree.add(7, {.parent = 3, .ns = 1, .position = 500, .live = true});    // parents first
//     RemovalPlan plan = tree.plan_removal(ids);      // who goes, who stays as a path: a value
//     tree.apply(plan);                               // once the database has done it
//
//     3 (live) --- 7 (live) --- 9 (live)
//                        `----- 8 (live)
//     remove 7: it becomes a path.  remove 8 and 9 then: both go, and 7 with them.  3 stays.
//
// Ownership: a value. Threads: one at a time. Memory: about 64 bytes a checkpoint. Cost of a plan: linear in the ids
// and in the paths that go.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "cairn/types.h"

namespace cairn {

struct CheckpointNode {
    std::uint64_t parent = 0;  ///< 0: none
    std::uint64_t ns = 0;      ///< id of its namespace
    TokenPos position = 0;
    bool live = true;
    std::uint32_t children = 0;
};

struct RemovalPlan {
    std::vector<std::uint64_t> gone;   ///< children before parents
    std::vector<std::uint64_t> paths;  ///< live until now, a path for others from now on
};

class CatalogueTree {
public:
    void reserve(std::size_t count) { nodes_.reserve(count); }
    /// `node.parent` is known or 0, `id` is new; node.children is not read.
    void add(std::uint64_t id, CheckpointNode node);
    [[nodiscard]] const CheckpointNode *find(std::uint64_t id) const;
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    /// Ids that are unknown, come twice, or are paths already do nothing.
    [[nodiscard]] RemovalPlan plan_removal(std::span<const std::uint64_t> ids) const;
    void apply(const RemovalPlan &plan);

private:
    std::unordered_map<std::uint64_t, CheckpointNode> nodes_;
};

}  // namespace cairn
