#include "store/eviction_plan.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace cairn {
namespace {

/// Simulates leaving: counts references to segments without touching them.
class Planner {
public:
    Planner(std::span<const SnapshotPtr> live, const EvictionRequest &request) : request_(request) {
        for (const SnapshotPtr &snapshot : live) {
            if (in_tier(*snapshot)) add(*snapshot);
        }
        for (const RowSegment *at = request.pinned.segment.get(); at != nullptr; at = at->parent().get())
            ++uses_[at].refs;
    }

    std::optional<std::vector<Snapshot *>> run() {
        std::vector<Snapshot *> plan;
        while (freed_ < request_.bytes) {
            if (heap_.empty()) return std::nullopt;
            const Candidate next = heap_.top();
            heap_.pop();
            take(next, plan);
        }
        return plan;
    }

    void choose_candidates(std::span<const SnapshotPtr> live) {
        for (const SnapshotPtr &snapshot : live) {
            if (in_tier(*snapshot) && snapshot->has_boundary() && !snapshot->leased()) offer(*snapshot);
        }
        for (auto &[segment, use] : uses_)
            offer_segment(segment, use);
    }

private:
    struct Use {
        std::size_t refs = 0;           // snapshots, children, pins
        std::vector<Snapshot *> users;  // snapshots whose rows end in it and that have no boundary
    };
    struct Candidate {
        double value;
        Snapshot *snapshot;         // with a boundary
        const RowSegment *segment;  // or rows only
        TokenPos position;
        // The top of the heap leaves first: the least valuable, of equals the deepest (the fewest can share it).
        friend bool operator<(const Candidate &a, const Candidate &b) {
            return a.value != b.value ? a.value > b.value : a.position < b.position;
        }
    };

    [[nodiscard]] bool in_tier(const Snapshot &snapshot) const {
        return request_.tier == Tier::disk ? snapshot.on_disk() : snapshot.in_ram();
    }
    [[nodiscard]] std::size_t boundary_bytes(const Snapshot &snapshot) const {
        if (request_.tier == Tier::ram) return snapshot.boundary_block().footprint();
        return snapshot.boundary_file() == nullptr ? 0 : snapshot.boundary_file()->footprint();
    }
    /// Of rows that no snapshot of the tier uses any more.
    [[nodiscard]] std::size_t rows_bytes(const RowSegment &segment) const {
        if (request_.tier == Tier::ram) return segment.block().footprint();
        const bool only_copy = segment.block().empty() && segment.users(Tier::ram) != 0;
        return segment.file() == nullptr || only_copy ? 0 : segment.file()->footprint();
    }

    void add(Snapshot &snapshot) {
        const RowSegment *at = snapshot.rows().segment.get();
        if (at == nullptr) return;
        for (; at != nullptr; at = at->parent().get()) {
            Use &use = uses_[at];
            if (++use.refs > 1) break;  // its ancestors know of it already
        }
        if (!snapshot.has_boundary()) uses_[snapshot.rows().segment.get()].users.push_back(&snapshot);
    }

    /// Bytes of rows that go when one reference to `segment` goes; takes the references away where `commit`.
    std::size_t release(const RowSegment *segment, std::size_t refs, bool commit) {
        std::size_t bytes = 0;
        for (; segment != nullptr; segment = segment->parent().get(), refs = 1) {
            Use &use = uses_[segment];
            const std::size_t left = use.refs - refs;
            if (commit) use.refs = left;
            if (left != 0) {
                if (commit) offer_segment(segment, use);
                break;
            }
            bytes += rows_bytes(*segment);
        }
        return bytes;
    }

    void offer(Snapshot &snapshot) {
        const std::size_t bytes = boundary_bytes(snapshot) + release(snapshot.rows().segment.get(), 1, false);
        push(Candidate{request_.value(snapshot, bytes), &snapshot, nullptr, snapshot.position()});
    }

    void offer_segment(const RowSegment *segment, const Use &use) {
        if (use.users.empty() || use.refs != use.users.size()) return;
        const std::size_t bytes = release(segment, use.refs, false);
        std::optional<double> value;
        for (const Snapshot *user : use.users) {
            if (user->leased()) return;
            value = std::max(value.value_or(request_.value(*user, bytes)), request_.value(*user, bytes));
        }
        push(Candidate{*value, nullptr, segment, segment->span().end});
    }

    void push(const Candidate &candidate) {
        if (!request_.ceiling || candidate.value < *request_.ceiling) heap_.push(candidate);
    }

    void take(const Candidate &candidate, std::vector<Snapshot *> &plan) {
        if (candidate.snapshot != nullptr) {
            plan.push_back(candidate.snapshot);
            freed_ += boundary_bytes(*candidate.snapshot);
            freed_ += release(candidate.snapshot->rows().segment.get(), 1, true);
            return;
        }
        const Use &use = uses_[candidate.segment];
        plan.insert(plan.end(), use.users.begin(), use.users.end());
        freed_ += release(candidate.segment, use.refs, true);
    }

    const EvictionRequest &request_;
    std::unordered_map<const RowSegment *, Use> uses_;
    std::priority_queue<Candidate> heap_;
    std::size_t freed_ = 0;
};

}  // namespace

std::optional<std::vector<Snapshot *>> plan_eviction(std::span<const SnapshotPtr> live,
                                                     const EvictionRequest &request) {
    Planner planner(live, request);
    planner.choose_candidates(live);
    return planner.run();
}

}  // namespace cairn
