#include "store/gc_plan.h"

#include <algorithm>
#include <unordered_map>

#include "store/disk_tier.h"

namespace cairn {
namespace {

constexpr std::size_t kFewestDigits = 4;

struct Candidate {
    const ListedNamespace *ns;
    const ListedSnapshot *snapshot;
};

std::uint64_t footprint(const StoredPayload &payload) {
    return DiskTier::footprint(static_cast<std::size_t>(payload.file_bytes));
}

std::vector<Candidate> candidates_of(const SnapshotListing &listing, const GcLimits &limits) {
    std::vector<Candidate> candidates;
    for (const ListedNamespace &ns : listing.namespaces) {
        if (!limits.model.empty() && !is_model(ns, limits.model)) continue;
        for (const ListedSnapshot &snapshot : ns.snapshots) {
            if (snapshot.is_in(Tier::disk)) candidates.push_back({&ns, &snapshot});
        }
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
        if (a.snapshot->last_use_unix_s != b.snapshot->last_use_unix_s) {
            return a.snapshot->last_use_unix_s < b.snapshot->last_use_unix_s;
        }
        return a.snapshot->id > b.snapshot->id;
    });
    return candidates;
}

/// Bytes of files by the snapshots that still need them.
class Files {
public:
    explicit Files(const std::vector<Candidate> &candidates) {
        const ListedNamespace *seen = nullptr;
        for (const Candidate &candidate : candidates) {
            if (candidate.ns != seen && bytes_of_[candidate.ns].empty()) {
                for (const StoredPayload &payload : candidate.ns->payloads)
                    bytes_of_[candidate.ns].emplace(payload.id, footprint(payload));
            }
            seen = candidate.ns;
            for (const std::uint64_t id : payloads_of(*candidate.ns, *candidate.snapshot)) {
                if (users_[id]++ == 0) used_ += bytes_of_[candidate.ns][id];
            }
        }
    }
    void drop(const Candidate &candidate) {
        for (const std::uint64_t id : payloads_of(*candidate.ns, *candidate.snapshot)) {
            if (--users_[id] == 0) used_ -= bytes_of_[candidate.ns][id];
        }
    }
    [[nodiscard]] std::uint64_t used() const { return used_; }

private:
    std::unordered_map<const ListedNamespace *, std::unordered_map<std::uint64_t, std::uint64_t>> bytes_of_;
    std::unordered_map<std::uint64_t, std::size_t> users_;
    std::uint64_t used_ = 0;
};

}  // namespace

bool is_model(const ListedNamespace &ns, const std::string &name_or_fingerprint) {
    if (ns.model == name_or_fingerprint) return true;
    return name_or_fingerprint.size() >= kFewestDigits && ns.key.model.hex().starts_with(name_or_fingerprint);
}

std::vector<std::uint64_t> plan_gc(const SnapshotListing &listing, const GcLimits &limits) {
    const std::vector<Candidate> candidates = candidates_of(listing, limits);
    Files files(candidates);
    std::vector<std::uint64_t> ids;
    for (const Candidate &candidate : candidates) {
        const bool too_old =
            limits.older_than_s && listing.now_unix_s - candidate.snapshot->last_use_unix_s > *limits.older_than_s;
        const bool too_much = limits.max_bytes && files.used() > *limits.max_bytes;
        if (!too_old && !too_much) continue;
        ids.push_back(candidate.snapshot->id);
        files.drop(candidate);
    }
    return ids;
}

std::uint64_t footprint_of(const std::vector<StoredPayload> &payloads) {
    std::uint64_t bytes = 0;
    for (const StoredPayload &payload : payloads)
        bytes += footprint(payload);
    return bytes;
}

}  // namespace cairn
