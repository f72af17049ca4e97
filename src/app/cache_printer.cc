#include "app/cache_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json_text.h"
#include "store/disk_tier.h"

namespace cairn {
namespace {

constexpr std::string_view kCut = "...";
/// Conversations of a hundred turns would leave no room for their texts.
constexpr std::size_t kDeepestIndent = 8;
/// A text that is cut to fewer columns says nothing.
constexpr std::size_t kNarrowestText = 12;
constexpr std::array kTiers{Tier::device, Tier::ram, Tier::disk};

struct Line {
    const ListedSnapshot *snapshot;
    std::size_t depth;
};

/// The snapshots of a namespace in the order of the tree. Those whose parents are not listed are roots; so is whatever
/// goes in a circle.
class TreeOrder {
public:
    explicit TreeOrder(const ListedNamespace &ns) {
        std::unordered_set<std::uint64_t> ids;
        for (const ListedSnapshot &snapshot : ns.snapshots)
            ids.insert(snapshot.id);
        for (const ListedSnapshot &snapshot : ns.snapshots)
            children_[ids.contains(snapshot.parent) ? snapshot.parent : 0].push_back(&snapshot);
        for (auto &[parent, list] : children_) {
            std::sort(list.begin(), list.end(), [](const ListedSnapshot *a, const ListedSnapshot *b) {
                return a->position != b->position ? a->position < b->position : a->id < b->id;
            });
        }
        add_from(0);
        for (const ListedSnapshot &snapshot : ns.snapshots) {
            if (!placed_.contains(snapshot.id)) place({&snapshot, 0});
        }
    }
    [[nodiscard]] const std::vector<Line> &lines() const { return lines_; }

private:
    /// Without recursion: a conversation may be thousands of turns long.
    void add_from(std::uint64_t root) {
        std::vector<Line> open;
        const auto push_children = [&](std::uint64_t parent, std::size_t depth) {
            const auto found = children_.find(parent);
            if (found == children_.end()) return;
            for (auto at = found->second.rbegin(); at != found->second.rend(); ++at)
                open.push_back({*at, depth});
        };
        push_children(root, 0);
        while (!open.empty()) {
            const Line line = open.back();
            open.pop_back();
            if (!place(line)) continue;
            push_children(line.snapshot->id, line.depth + 1);
        }
    }
    bool place(const Line &line) {
        if (!placed_.insert(line.snapshot->id).second) return false;
        lines_.push_back(line);
        return true;
    }

    std::unordered_map<std::uint64_t, std::vector<const ListedSnapshot *>> children_;
    std::unordered_set<std::uint64_t> placed_;
    std::vector<Line> lines_;
};

std::string tiers_text(const ListedSnapshot &snapshot) {
    std::string text;
    for (const Tier tier : snapshot.tiers)
        text += fmt::format("{}{}", text.empty() ? "" : " ", name_of(tier));
    return text;
}

std::string title_of(const ListedNamespace &ns) {
    std::string title = fmt::format("{}  {}", escaped(ns.model), ns.key.model.hex());
    if (!ns.key.tenant.empty()) title += fmt::format("  tenant \"{}\"", escaped(ns.key.tenant));
    return title;
}

/// Whether `text` begins with a whole character that may be shown; its length.
std::size_t printable_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
    const std::size_t length = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first >= 0xf5 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    if (first == 0xc2 && byte(1) < 0xa0) return 0;   // C1 controls
    if (first == 0xe0 && byte(1) < 0xa0) return 0;   // longer than need be
    if (first == 0xf0 && byte(1) < 0x90) return 0;   // likewise
    if (first == 0xed && byte(1) >= 0xa0) return 0;  // surrogates
    if (first == 0xf4 && byte(1) >= 0x90) return 0;  // behind the last character
    const bool turns = first == 0xe2 && (byte(1) == 0x80 || byte(1) == 0x81);
    if (turns && text.substr(1, 2) >= "\x80\x8b" && text.substr(1, 2) <= "\x80\x8f") return 0;  // marks of direction
    if (turns && text.substr(1, 2) >= "\x80\xa8" && text.substr(1, 2) <= "\x80\xae") return 0;  // breaks, overrides
    if (turns && text.substr(1, 2) >= "\x81\xa0" && text.substr(1, 2) <= "\x81\xaf") return 0;  // isolates
    return length;
}

std::string escape_of(unsigned char byte) {
    switch (byte) {
        case '\n': return "\\n";
        case '\t': return "\\t";
        case '\r': return "\\r";
        default: return fmt::format("\\x{:02x}", byte);
    }
}

/// Of one model and tenant.
struct Totals {
    std::map<Tier, std::size_t> snapshots;
    std::size_t files = 0;
    std::uint64_t file_bytes = 0;
    std::uint64_t tokens = 0;

    explicit Totals(const ListedNamespace &ns) : files(ns.payloads.size()) {
        for (const ListedSnapshot &snapshot : ns.snapshots) {
            tokens += static_cast<std::uint64_t>(std::max<TokenPos>(0, snapshot.position));
            for (const Tier tier : snapshot.tiers)
                ++snapshots[tier];
        }
        for (const StoredPayload &payload : ns.payloads)
            file_bytes += DiskTier::footprint(static_cast<std::size_t>(payload.file_bytes));
    }
};

std::string use_text(const TierUse &use) {
    if (use.limit == 0) return human_bytes(use.used);
    return fmt::format("{} of {}", human_bytes(use.used), human_bytes(use.limit));
}

}  // namespace

std::string escaped(std::string_view text, std::size_t columns) {
    std::string out;
    std::size_t used = 0;
    std::size_t room = 0;  // bytes of `out` after which "..." still fits
    while (!text.empty()) {
        const std::size_t length = printable_length(text);
        const std::string piece =
            length > 0 ? std::string(text.substr(0, length)) : escape_of(static_cast<unsigned char>(text[0]));
        const std::size_t wide = length > 0 ? 1 : piece.size();
        if (columns > 0 && used + wide > columns) {
            out.resize(room);
            return out + std::string(kCut.substr(0, std::min(columns, kCut.size())));
        }
        used += wide;
        out += piece;
        if (used + kCut.size() <= columns) room = out.size();
        text.remove_prefix(length > 0 ? length : 1);
    }
    return out;
}

std::string human_bytes(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes) / 1024;
    const std::array units{"KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < units.size(); ++unit)
        value /= 1024;
    return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string human_age(std::int64_t seconds) {
    seconds = std::max<std::int64_t>(0, seconds);
    if (seconds < 120) return fmt::format("{} s", seconds);
    if (seconds < 120 * 60) return fmt::format("{} m", seconds / 60);
    if (seconds < 48 * 3600) return fmt::format("{} h", seconds / 3600);
    return fmt::format("{} d", seconds / 86400);
}

std::string snapshot_table(const SnapshotListing &listing, std::size_t width) {
    std::string out;
    for (const ListedNamespace &ns : listing.namespaces) {
        fmt::format_to(std::back_inserter(out), "{}{}: {} snapshot{}\n", out.empty() ? "" : "\n", title_of(ns),
                       ns.snapshots.size(), ns.snapshots.size() == 1 ? "" : "s");
        const TreeOrder order(ns);
        std::size_t id_width = 2;
        std::size_t tiers_width = 5;
        for (const Line &line : order.lines()) {
            const std::size_t indent = 2 * std::min(line.depth, kDeepestIndent);
            id_width = std::max(id_width, indent + fmt::format("{}", line.snapshot->id).size());
            tiers_width = std::max(tiers_width, tiers_text(*line.snapshot).size());
        }
        fmt::format_to(std::back_inserter(out), "{:<{}}  {:>8}  {:>10}  {:<{}}  {:<13}  {:>6}  {:>5}  TEXT\n", "ID",
                       id_width, "TOKENS", "STATE", "TIERS", tiers_width, "KIND", "USED", "HITS");
        for (const Line &line : order.lines()) {
            const ListedSnapshot &s = *line.snapshot;
            const std::string id = fmt::format("{:{}}{}", "", 2 * std::min(line.depth, kDeepestIndent), s.id);
            const std::string facts = fmt::format(
                "{:<{}}  {:>8}  {:>10}  {:<{}}  {:<13}  {:>6}  {:>5}  ", id, id_width, s.position, human_bytes(s.bytes),
                tiers_text(s), tiers_width, name_of(s.kind), human_age(listing.now_unix_s - s.last_use_unix_s), s.hits);
            const std::size_t left = width == 0 ? 0 : std::max(width - std::min(width, facts.size()), kNarrowestText);
            out += facts + escaped(s.text, left) + '\n';
        }
    }
    return out.empty() ? fmt::format("nothing is cached in {}\n", escaped(listing.directory)) : out;
}

std::string statistics_text(const SnapshotListing &listing) {
    std::string out = fmt::format("directory  {}\n", escaped(listing.directory));
    for (const auto &[name, use] :
         {std::pair{"device", listing.device}, {"ram", listing.ram}, {"disk", listing.disk}}) {
        fmt::format_to(std::back_inserter(out), "{:<9}  {}\n", name, use_text(use));
    }
    for (const ListedNamespace &ns : listing.namespaces) {
        const Totals totals(ns);
        fmt::format_to(std::back_inserter(out), "\n{}\n  {} snapshots of {} tokens in all; {} files, {}\n",
                       title_of(ns), ns.snapshots.size(), totals.tokens, totals.files, human_bytes(totals.file_bytes));
        for (const auto &[tier, count] : totals.snapshots)
            fmt::format_to(std::back_inserter(out), "  {:<6}  {} snapshots\n", name_of(tier), count);
    }
    for (const std::string &note : listing.notes)
        fmt::format_to(std::back_inserter(out), "\nnote  {}\n", escaped(note));
    return out;
}

std::string statistics_json(const SnapshotListing &listing) {
    using Json = nlohmann::ordered_json;
    const auto use = [](const TierUse &u) { return Json{{"used", u.used}, {"limit", u.limit}}; };
    Json json{{"directory", listing.directory},
              {"device", use(listing.device)},
              {"ram", use(listing.ram)},
              {"disk", use(listing.disk)},
              {"notes", listing.notes}};
    json["namespaces"] = Json::array();
    for (const ListedNamespace &ns : listing.namespaces) {
        Totals totals(ns);
        Json tiers;
        for (const Tier tier : kTiers)
            tiers[name_of(tier)] = totals.snapshots[tier];
        json["namespaces"].push_back({{"model", ns.model},
                                      {"fingerprint", ns.key.model.hex()},
                                      {"tenant", ns.key.tenant},
                                      {"snapshots", ns.snapshots.size()},
                                      {"tokens", totals.tokens},
                                      {"in_tier", std::move(tiers)},
                                      {"files", totals.files},
                                      {"file_bytes", totals.file_bytes}});
    }
    return json_text(json);
}

}  // namespace cairn
