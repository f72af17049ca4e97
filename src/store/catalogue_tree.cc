#include "store/catalogue_tree.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "base/check.h"

namespace cairn {

void CatalogueTree::add(std::uint64_t id, CheckpointNode node) {
    node.children = 0;
    if (node.parent != 0) {
        const auto parent = nodes_.find(node.parent);
        CAIRN_CHECK(parent != nodes_.end(), "checkpoint {} builds on {}, which is unknown", id, node.parent);
        ++parent->second.children;
    }
    const bool added = nodes_.emplace(id, node).second;
    CAIRN_CHECK(added, "checkpoint {} is there already", id);
}

const CheckpointNode *CatalogueTree::find(std::uint64_t id) const {
    const auto at = nodes_.find(id);
    return at == nodes_.end() ? nullptr : &at->second;
}

RemovalPlan CatalogueTree::plan_removal(std::span<const std::uint64_t> ids) const {
    RemovalPlan plan;
    // Children have larger ids than their parents: from the largest down, a checkpoint's children are settled before
    // it.
    std::vector<std::uint64_t> order(ids.begin(), ids.end());
    std::sort(order.begin(), order.end(), std::greater<>());
    order.erase(std::unique(order.begin(), order.end()), order.end());
    std::unordered_map<std::uint64_t, std::uint32_t> lost;  // children that go, by parent
    const auto is_bare = [&](std::uint64_t id, const CheckpointNode &node) {
        const auto at = lost.find(id);
        return node.children == (at == lost.end() ? 0 : at->second);
    };
    std::unordered_set<std::uint64_t> dead;  // live until now, and not settled yet
    for (const std::uint64_t id : order) {
        const CheckpointNode *node = find(id);
        if (node != nullptr && node->live) dead.insert(id);
    }
    for (const std::uint64_t first : order) {
        if (!dead.contains(first)) continue;
        // It goes if nothing is left above it, and then each path below it that it was the last to need.
        std::uint64_t id = first;
        for (const CheckpointNode *node = find(id); node != nullptr; node = find(id)) {
            const bool dying = id == first || !node->live;  // another one's turn comes later
            if (!dying || !is_bare(id, *node)) break;
            plan.gone.push_back(id);
            dead.erase(id);
            ++lost[node->parent];
            id = node->parent;
        }
    }
    for (const std::uint64_t id : order) {
        if (dead.contains(id)) plan.paths.push_back(id);
    }
    return plan;
}

void CatalogueTree::apply(const RemovalPlan &plan) {
    for (const std::uint64_t id : plan.paths) {
        const auto at = nodes_.find(id);
        CAIRN_CHECK(at != nodes_.end(), "checkpoint {} is unknown", id);
        at->second.live = false;
    }
    for (const std::uint64_t id : plan.gone) {
        const auto at = nodes_.find(id);
        CAIRN_CHECK(at != nodes_.end() && at->second.children == 0, "checkpoint {} cannot go", id);
        const auto parent = nodes_.find(at->second.parent);
        if (parent != nodes_.end()) --parent->second.children;
        nodes_.erase(at);
    }
}

}  // namespace cairn
