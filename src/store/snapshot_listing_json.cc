// SnapshotListing as JSON and back. Ids are numbers, times are seconds since 1970 UTC, bytes are bytes.
#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"
#include "store/snapshot_listing.h"

namespace cairn {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kTiers{Tier::device, Tier::ram, Tier::disk, Tier::remote};
constexpr std::array kPayloadKinds{PayloadKind::rows, PayloadKind::boundary};
constexpr std::array kKinds{CheckpointKind::system_end, CheckpointKind::last_user,  CheckpointKind::last_user_end,
                            CheckpointKind::prompt_end, CheckpointKind::answer_end, CheckpointKind::interval,
                            CheckpointKind::fork};

template <class Table>
auto named(const Table &table, const Json &name) {
    for (const auto value : table) {
        if (name.get_ref<const std::string &>() == name_of(value)) return value;
    }
    throw std::invalid_argument("an unknown word: " + name.get<std::string>());
}

Fingerprint fingerprint_of(const Json &hex) {
    const auto &text = hex.get_ref<const std::string &>();
    Fingerprint fingerprint;
    bool good = text.size() == 2 * fingerprint.bytes.size();
    for (std::size_t i = 0; good && i < fingerprint.bytes.size(); ++i) {
        const char *end = text.data() + 2 * i + 2;
        const auto parsed = std::from_chars(end - 2, end, fingerprint.bytes[i], 16);
        good = parsed.ec == std::errc{} && parsed.ptr == end;
    }
    if (!good) throw std::invalid_argument("a fingerprint that is none: " + text);
    return fingerprint;
}

Json json_of(const TierUse &use) {
    return {{"used", use.used}, {"limit", use.limit}};
}

TierUse tier_use_of(const Json &json) {
    return {json.at("used").get<std::uint64_t>(), json.at("limit").get<std::uint64_t>()};
}

Json json_of(const ListedSnapshot &snapshot) {
    Json tiers = Json::array();
    for (const Tier tier : snapshot.tiers)
        tiers.push_back(name_of(tier));
    return {{"id", snapshot.id},
            {"parent", snapshot.parent},
            {"tokens", snapshot.position},
            {"kind", name_of(snapshot.kind)},
            {"tiers", std::move(tiers)},
            {"bytes", snapshot.bytes},
            {"rows", snapshot.rows},
            {"boundary", snapshot.boundary},
            {"created", snapshot.created_unix_s},
            {"last_use", snapshot.last_use_unix_s},
            {"hits", snapshot.hits},
            {"text", snapshot.text}};
}

ListedSnapshot snapshot_of(const Json &json) {
    ListedSnapshot snapshot{.id = json.at("id").get<std::uint64_t>(),
                            .parent = json.at("parent").get<std::uint64_t>(),
                            .position = json.at("tokens").get<TokenPos>(),
                            .kind = named(kKinds, json.at("kind")),
                            .tiers = {},
                            .bytes = json.at("bytes").get<std::uint64_t>(),
                            .rows = json.at("rows").get<std::uint64_t>(),
                            .boundary = json.at("boundary").get<std::uint64_t>(),
                            .created_unix_s = json.at("created").get<std::int64_t>(),
                            .last_use_unix_s = json.at("last_use").get<std::int64_t>(),
                            .hits = json.at("hits").get<std::uint32_t>(),
                            .text = json.at("text").get<std::string>()};
    for (const Json &tier : json.at("tiers"))
        snapshot.tiers.push_back(named(kTiers, tier));
    return snapshot;
}

Json json_of(const StoredPayload &payload) {
    return {{"id", payload.id},
            {"kind", name_of(payload.kind)},
            {"parent", payload.parent},
            {"begin", payload.span.begin},
            {"end", payload.span.end},
            {"bytes", payload.bytes},
            {"file_bytes", payload.file_bytes}};
}

StoredPayload payload_of(const Json &json) {
    return {.id = json.at("id").get<std::uint64_t>(),
            .kind = named(kPayloadKinds, json.at("kind")),
            .parent = json.at("parent").get<std::uint64_t>(),
            .span = {json.at("begin").get<TokenPos>(), json.at("end").get<TokenPos>()},
            .bytes = json.at("bytes").get<std::uint64_t>(),
            .file_bytes = json.at("file_bytes").get<std::uint64_t>()};
}

Json json_of(const ListedNamespace &ns) {
    Json json{{"model", ns.model}, {"fingerprint", ns.key.model.hex()}, {"tenant", ns.key.tenant}};
    json["snapshots"] = Json::array();
    for (const ListedSnapshot &snapshot : ns.snapshots)
        json["snapshots"].push_back(json_of(snapshot));
    json["payloads"] = Json::array();
    for (const StoredPayload &payload : ns.payloads)
        json["payloads"].push_back(json_of(payload));
    return json;
}

ListedNamespace namespace_of(const Json &json) {
    ListedNamespace ns{.key = {fingerprint_of(json.at("fingerprint")), json.at("tenant").get<std::string>()},
                       .model = json.at("model").get<std::string>(),
                       .snapshots = {},
                       .payloads = {}};
    for (const Json &snapshot : json.at("snapshots"))
        ns.snapshots.push_back(snapshot_of(snapshot));
    for (const Json &payload : json.at("payloads"))
        ns.payloads.push_back(payload_of(payload));
    std::sort(ns.payloads.begin(), ns.payloads.end(), [](const auto &a, const auto &b) { return a.id < b.id; });
    return ns;
}

SnapshotListing listing_from(const Json &json) {
    SnapshotListing listing{.directory = json.at("directory").get<std::string>(),
                            .now_unix_s = json.at("now").get<std::int64_t>(),
                            .device = tier_use_of(json.at("device")),
                            .ram = tier_use_of(json.at("ram")),
                            .disk = tier_use_of(json.at("disk")),
                            .notes = json.at("notes").get<std::vector<std::string>>(),
                            .namespaces = {}};
    for (const Json &ns : json.at("namespaces"))
        listing.namespaces.push_back(namespace_of(ns));
    return listing;
}

}  // namespace

std::string to_json(const SnapshotListing &listing) {
    Json json{{"directory", listing.directory}, {"now", listing.now_unix_s},     {"device", json_of(listing.device)},
              {"ram", json_of(listing.ram)},    {"disk", json_of(listing.disk)}, {"notes", listing.notes}};
    json["namespaces"] = Json::array();
    for (const ListedNamespace &ns : listing.namespaces)
        json["namespaces"].push_back(json_of(ns));
    return json_text(json);
}

Result<SnapshotListing> parse_snapshot_listing(std::string_view json) {
    try {
        return listing_from(Json::parse(json));
    } catch (const std::exception &error) {
        return fail(ErrorCode::corrupt, "this is no listing of a cache: {}", error.what());
    }
}

}  // namespace cairn
