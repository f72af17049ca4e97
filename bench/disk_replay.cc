// Disk admission and eviction by value on request traces: the real policies of src/policy over a model of two tiers.
//
//     bench/replay_trace.py TRACES agents | disk_replay --ram-gib 32 --disk-gib 512 --restarts 3
//
// What is modelled: checkpoints at the places plan_checkpoints says, plus the answer's end; a boundary of 50 MiB and
// rows of 32 KiB a token (about Qwen3.5-9B), rows stored once and shared by all snapshots built on them; both tiers
// evict by eviction_value, one snapshot at a time; a hit on disk comes back to RAM; a restart empties RAM. What is not:
// the time that anything takes, concurrent requests, a device tier.
//
// Prints a row for each of: every snapshot written at once; admission; and both with eviction by recency alone.
//     computed    tokens of prompts that no tier had
//     seconds     that computing them takes, and reading what came from disk
//     written     GiB written to disk
//     came back   GiB of them that were used afterwards, from whatever tier: what a restart would have missed
//     was read    GiB of them that were used at least once where RAM did not have the snapshot
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "policy/checkpoint_plan.h"
#include "policy/disk_admission.h"
#include "policy/eviction_value.h"
#include "replay_request.h"

namespace {

using cairn::CheckpointKind;
using cairn::TokenPos;
using cairn::bench::Request;

constexpr std::size_t kBoundaryBytes = std::size_t{50} << 20;
constexpr std::size_t kRowBytes = std::size_t{32} << 10;
constexpr double kSecondsPerToken = 1 / 2000.0;
constexpr double kDiskBytesPerSecond = 2e9;
constexpr double kGiB = 1 << 30;
constexpr std::size_t kMostGone = 1024;

struct Setup {
    bool by_value = true;
    bool admission = true;
    std::size_t ram_bytes = std::size_t{32} << 30;
    std::size_t disk_bytes = std::size_t{512} << 30;
    int restarts = 3;
};

struct Rows {
    Rows *parent = nullptr;
    std::size_t bytes = 0;
    int refs[2] = {0, 0};  // in RAM, on disk: snapshots and child rows
    bool came_back = false, was_read = false;
};

enum Where : int { ram = 0, disk = 1 };

struct Snapshot {
    std::uint64_t key = 0;
    Snapshot *parent = nullptr;  // the next shallower one on its path
    std::vector<Snapshot *> children;
    TokenPos position = 0;
    CheckpointKind kind{};
    bool continued = false;
    Rows *rows = nullptr;
    bool in[2] = {false, false};
    bool pinned = false;
    double last_use_s = 0, published_s = 0;
    std::uint64_t hits = 0;
    bool offered = false, used_since = false;  // for the record
    bool came_back = false, was_read = false;  // its boundary
};

struct Totals {
    double prompts = 0, hit = 0, read = 0, written = 0, came_back = 0, was_read = 0;
};

class Replay {
public:
    explicit Replay(Setup setup) : setup_(setup) {}

    void serve(const Request &request) {
        const double now = request.at_s;
        settle(now);
        Snapshot *found = deepest(request, (request.prompt - 1) / request.block);
        notice_loss(request, found ? found->position / request.block : 0);
        const TokenPos depth = found ? found->position : 0;
        totals_.prompts += request.prompt;
        totals_.hit += depth;
        std::vector<Snapshot *> pinned;
        if (found) use(*found, now, request.service_s, pinned);
        const bool continued =
            found && found->kind != CheckpointKind::system_end && found->kind != CheckpointKind::fork;
        Snapshot *last = found;
        for (auto [pos, kind] : plan(request, depth))
            last = publish(request, pos, kind, continued, last, pinned);
        for (Snapshot *s : pinned)
            s->pinned = false;
        for (std::uint64_t prefix : request.path)
            known_.insert(prefix);
    }

    void restart() {
        for (Snapshot *s : live(ram))
            leave(*s, ram);
        due_.clear();
    }

    const Totals &totals() const { return totals_; }

private:
    // -- the tree of snapshots ---------------------------------------------------------------------------------------

    Snapshot *deepest(const Request &request, TokenPos blocks) const {
        for (std::size_t at = std::min<std::size_t>(blocks, request.path.size() - 1); at > 0; --at) {
            const auto it = snapshots_.find(request.path[at]);
            if (it != snapshots_.end()) return it->second.get();
        }
        return nullptr;
    }

    std::vector<cairn::PlannedCheckpoint> plan(const Request &request, TokenPos depth) const {
        std::vector<cairn::CheckpointHint> hints;
        if (request.system > 0) hints.push_back({request.system, CheckpointKind::system_end});
        TokenPos blocks = (request.prompt - 1) / request.block;
        while (blocks > 0 && known_.count(request.path[static_cast<std::size_t>(blocks)]) == 0)
            --blocks;
        std::optional<TokenPos> fork;
        if (blocks * request.block > depth) fork = blocks * request.block;
        auto planned = cairn::plan_checkpoints(request.prompt, hints, 8192, fork, depth);
        planned.push_back({request.prompt + request.answer, CheckpointKind::answer_end});
        return planned;
    }

    Snapshot *publish(const Request &request, TokenPos pos, CheckpointKind kind, bool continued, Snapshot *parent,
                      std::vector<Snapshot *> &pinned) {
        const auto blocks = std::min<std::size_t>(pos / request.block, request.path.size() - 1);
        const TokenPos position = static_cast<TokenPos>(blocks) * request.block;
        if (position <= (parent ? parent->position : 0)) return parent;
        if (snapshots_.count(request.path[blocks]) != 0) return parent;
        const std::size_t rows = static_cast<std::size_t>(position - (parent ? parent->position : 0)) * kRowBytes;
        if (!make_room(ram, kBoundaryBytes + rows)) return parent;
        auto made = std::make_unique<Snapshot>();
        Snapshot &s = *made;
        s.key = request.path[blocks];
        s.position = position;
        s.kind = kind;
        s.continued = continued;
        s.last_use_s = s.published_s = request.at_s + request.service_s;
        s.rows = all_rows_.emplace_back(std::make_unique<Rows>()).get();
        s.rows->parent = parent ? parent->rows : nullptr;
        s.rows->bytes = rows;
        s.parent = parent;
        if (parent) parent->children.push_back(&s);
        snapshots_.emplace(s.key, std::move(made));
        enter(s, ram);
        s.pinned = true;
        pinned.push_back(&s);
        consider(s, request.at_s);
        due_.emplace(s.last_use_s + cairn::kSettleSeconds, s.key);
        return &s;
    }

    void use(Snapshot &s, double now, double service_s, std::vector<Snapshot *> &pinned) {
        s.pinned = true;
        pinned.push_back(&s);
        const bool from_disk = !s.in[ram];
        if (from_disk) totals_.read += static_cast<double>(missing(s, ram));
        if (s.in[disk]) count_use(s, from_disk);
        if (from_disk && make_room(ram, missing(s, ram))) enter(s, ram);
        ++s.hits;
        s.last_use_s = now + service_s;
        if (s.offered && !s.used_since) record_.used({s.kind, s.continued}, own_bytes(s), now);
        s.used_since = true;
        consider(s, now);
        due_.emplace(s.last_use_s + cairn::kSettleSeconds, s.key);
    }

    void count_use(Snapshot &s, bool from_disk) {
        const auto count = [&](auto &what, std::size_t bytes) {
            if (!what.came_back) totals_.came_back += static_cast<double>(bytes);
            if (from_disk && !what.was_read) totals_.was_read += static_cast<double>(bytes);
            what.came_back = true;
            what.was_read = what.was_read || from_disk;
        };
        count(s, kBoundaryBytes);
        for (Rows *rows = s.rows; rows != nullptr; rows = rows->parent)
            count(*rows, rows->bytes);
    }

    // -- payloads in tiers -------------------------------------------------------------------------------------------

    static std::size_t own_bytes(const Snapshot &s) { return kBoundaryBytes + s.rows->bytes; }

    static std::size_t missing(const Snapshot &s, Where where) {
        std::size_t bytes = kBoundaryBytes;
        for (const Rows *rows = s.rows; rows != nullptr && rows->refs[where] == 0; rows = rows->parent)
            bytes += rows->bytes;
        return bytes;
    }

    static std::size_t freed(const Snapshot &s, Where where) {
        std::size_t bytes = kBoundaryBytes;
        for (const Rows *rows = s.rows; rows != nullptr && rows->refs[where] == 1; rows = rows->parent)
            bytes += rows->bytes;
        return bytes;
    }

    void enter(Snapshot &s, Where where) {
        const std::size_t bytes = missing(s, where);
        s.in[where] = true;
        held_[where] += bytes;
        if (where == disk) {
            totals_.written += static_cast<double>(bytes);
            s.came_back = s.was_read = false;
        }
        for (Rows *rows = s.rows; rows != nullptr && rows->refs[where]++ == 0; rows = rows->parent) {
            if (where == disk) rows->came_back = rows->was_read = false;
        }
        live_[where].insert(&s);
    }

    void leave(Snapshot &s, Where where) {
        held_[where] -= freed(s, where);
        s.in[where] = false;
        for (Rows *rows = s.rows; rows != nullptr && --rows->refs[where] == 0; rows = rows->parent) {
        }
        live_[where].erase(&s);
        if (s.in[ram] || s.in[disk]) return;
        for (Snapshot *child : s.children) {
            child->parent = s.parent;
            if (s.parent) s.parent->children.push_back(child);
        }
        if (s.parent) std::erase(s.parent->children, &s);
        if (s.offered && !s.used_since) remember(s);
        snapshots_.erase(s.key);
    }

    // What was offered and is gone: the cache remembers as many, to explain misses.
    void remember(const Snapshot &s) {
        gone_[s.key] = {{s.kind, s.continued}, own_bytes(s)};
        gone_order_.push_back(s.key);
        if (gone_order_.size() <= kMostGone) return;
        gone_.erase(gone_order_.front());
        gone_order_.pop_front();
    }

    // A snapshot that was refused and would have been used now counts as used, or small RAM would teach that nothing
    // is.
    void notice_loss(const Request &request, TokenPos found) {
        for (auto at = static_cast<std::size_t>((request.prompt - 1) / request.block); at > std::size_t(found); --at) {
            const auto it = gone_.find(request.path[std::min(at, request.path.size() - 1)]);
            if (it == gone_.end()) continue;
            record_.used(it->second.first, it->second.second, request.at_s);
            gone_.erase(it);
            return;
        }
    }

    std::vector<Snapshot *> live(Where where) const { return {live_[where].begin(), live_[where].end()}; }

    bool make_room(Where where, std::size_t bytes) {
        const std::size_t budget = where == ram ? setup_.ram_bytes : setup_.disk_bytes;
        while (held_[where] + bytes > budget) {
            Snapshot *least = nullptr;
            double least_value = std::numeric_limits<double>::infinity();
            for (Snapshot *s : live_[where]) {
                if (s->pinned) continue;
                const double value = value_of(*s, where);
                if (value < least_value || (value == least_value && least && s->key < least->key)) {
                    least = s;
                    least_value = value;
                }
            }
            if (least == nullptr) return false;
            leave(*least, where);
        }
        return true;
    }

    double value_of(const Snapshot &s, Where where) const {
        if (!setup_.by_value) return s.last_use_s;
        const Snapshot *below = s.parent;
        while (below != nullptr && !below->in[where])
            below = below->parent;
        cairn::SnapshotFacts facts{.last_use_s = s.last_use_s, .now_s = now_s_};
        facts.bytes = freed(s, where);
        facts.tokens_saved = s.position - (below ? below->position : 0);
        facts.seconds_per_token = kSecondsPerToken;
        facts.hits = s.hits;
        facts.kind = s.kind;
        facts.has_descendants = !s.children.empty();
        if (where == ram && s.in[disk])
            facts.slower_copy_seconds = static_cast<double>(facts.bytes) / kDiskBytesPerSecond;
        facts.position = s.position;
        facts.published_s = s.published_s;
        return cairn::eviction_value(facts);
    }

    // -- admission ---------------------------------------------------------------------------------------------------

    void settle(double now) {
        now_s_ = now;
        while (!due_.empty() && due_.begin()->first <= now) {
            const auto [at, key] = *due_.begin();
            due_.erase(due_.begin());
            const auto it = snapshots_.find(key);
            if (it != snapshots_.end() && it->second->in[ram]) consider(*it->second, at);
        }
    }

    void consider(Snapshot &s, double now) {
        if (setup_.disk_bytes == 0 || s.in[disk] || !s.in[ram] || !admitted(s, now)) return;
        const bool was_pinned = std::exchange(s.pinned, true);
        if (make_room(disk, missing(s, disk))) enter(s, disk);
        s.pinned = was_pinned;
    }

    bool admitted(Snapshot &s, double now) {
        if (!setup_.admission) return true;
        cairn::DiskFacts facts;
        facts.who = {s.kind, s.continued};
        facts.hits = s.hits;
        facts.idle_s = now - s.last_use_s + 1e-6;  // due times are rounded
        facts.superseded = !s.children.empty();
        facts.read_back = {.bytes = kBoundaryBytes + static_cast<std::size_t>(s.position) * kRowBytes,
                           .bytes_per_s = kDiskBytesPerSecond,
                           .tokens_saved = s.position,
                           .seconds_per_token = kSecondsPerToken};
        const auto verdict = cairn::admit_to_disk(facts, record_, now);
        const bool final = verdict != cairn::DiskVerdict::wait && verdict != cairn::DiskVerdict::superseded;
        if (final && !std::exchange(s.offered, true)) {
            record_.offered(facts.who, own_bytes(s), now);
            s.used_since = false;
        }
        return verdict == cairn::DiskVerdict::write;
    }

    Setup setup_;
    double now_s_ = 0;
    std::unordered_map<std::uint64_t, std::unique_ptr<Snapshot>> snapshots_;
    std::vector<std::unique_ptr<Rows>> all_rows_;
    std::unordered_set<Snapshot *> live_[2];
    std::size_t held_[2] = {0, 0};
    std::unordered_set<std::uint64_t> known_;  // every prefix that was ever seen
    std::multimap<double, std::uint64_t> due_;
    std::unordered_map<std::uint64_t, std::pair<cairn::ReuseClass, std::size_t>> gone_;
    std::deque<std::uint64_t> gone_order_;
    cairn::ReuseRecord record_;
    Totals totals_;
};

void run(const char *name, const Setup &setup, const std::vector<Request> &requests) {
    Replay replay(setup);
    const std::size_t part = requests.size() / static_cast<std::size_t>(setup.restarts + 1) + 1;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (i > 0 && i % part == 0) replay.restart();
        replay.serve(requests[i]);
    }
    const Totals &t = replay.totals();
    const double seconds = (t.prompts - t.hit) * kSecondsPerToken + t.read / kDiskBytesPerSecond;
    const auto ratio = [&](double useful) {
        return useful > 0 ? fmt::format("{:.1f}", t.written / useful) : std::string("-");
    };
    fmt::print("| {} | {:.1f} % | {:.0f} | {:.0f} | {:.0f} | {} | {:.0f} | {} |\n", name, 100 * (1 - t.hit / t.prompts),
               seconds, t.written / kGiB, t.came_back / kGiB, ratio(t.came_back), t.was_read / kGiB, ratio(t.was_read));
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char **argv) {
    Setup setup;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string name = argv[i];
        const double value = std::atof(argv[i + 1]);
        if (name == "--ram-gib")
            setup.ram_bytes = static_cast<std::size_t>(value * kGiB);
        else if (name == "--disk-gib")
            setup.disk_bytes = static_cast<std::size_t>(value * kGiB);
        else if (name == "--restarts")
            setup.restarts = static_cast<int>(value);
        else
            return std::fprintf(stderr, "%s: take --ram-gib, --disk-gib or --restarts.\n", argv[i]), 2;
    }
    const std::vector<Request> requests = cairn::bench::read_requests(std::cin);
    fmt::print("| evicted by, written | computed | seconds | written | came back | ratio | was read | ratio |\n");
    fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (bool by_value : {false, true}) {
        for (bool admission : {false, true}) {
            setup.by_value = by_value;
            setup.admission = admission;
            const std::string name =
                std::string(by_value ? "value" : "recency") + (admission ? ", admission" : ", everything");
            run(name.c_str(), setup, requests);
        }
    }
    return 0;
}
