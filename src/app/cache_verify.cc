#include "app/cache_verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "app/cache_printer.h"
#include "base/json_text.h"
#include "store/payload_file.h"

namespace cairn {
namespace {

Status check_file(FileSystem &files, const std::string &path, const ListedNamespace &ns, const StoredPayload &listed) {
    auto payload = open_payload_file(files, path);
    if (!payload) return fail(payload.error());
    const PayloadHeader &header = payload->header;
    const bool same = header.kind == listed.kind && header.id == listed.id && header.span == listed.span &&
                      header.bytes == listed.bytes && header.model == ns.key.model &&
                      header.tenant == hash_of_text(ns.key.tenant);
    if (!same) return fail(ErrorCode::corrupt, "{} is another payload than the catalogue says", path);
    return payload->verify();
}

std::vector<std::uint64_t> snapshots_on(const ListedNamespace &ns, std::uint64_t payload) {
    std::vector<std::uint64_t> ids;
    for (const ListedSnapshot &snapshot : ns.snapshots) {
        const auto its = payloads_of(ns, snapshot);
        if (std::find(its.begin(), its.end(), payload) != its.end()) ids.push_back(snapshot.id);
    }
    return ids;
}

}  // namespace

VerifyReport verify_payloads(FileSystem &files, const SnapshotListing &listing, const VerifyProgress &progress) {
    std::uint64_t all = 0;
    for (const ListedNamespace &ns : listing.namespaces) {
        for (const StoredPayload &payload : ns.payloads)
            all += payload.file_bytes;
    }
    VerifyReport report;
    std::uint64_t done = 0;
    for (const ListedNamespace &ns : listing.namespaces) {
        for (const StoredPayload &payload : ns.payloads) {
            if (progress) progress(done, all);
            const std::string path = payload_path_of(listing.directory, payload.id);
            const Status whole = check_file(files, path, ns, payload);
            done += payload.file_bytes;
            if (!whole && whole.error().code == ErrorCode::not_found) {
                ++report.gone;
                continue;
            }
            ++report.checked;
            report.bytes += payload.file_bytes;
            if (!whole) report.damaged.push_back({payload.id, path, whole.error(), snapshots_on(ns, payload.id)});
        }
    }
    if (progress) progress(all, all);
    return report;
}

std::vector<std::uint64_t> damaged_snapshots(const VerifyReport &report) {
    std::set<std::uint64_t> ids;
    for (const DamagedPayload &damaged : report.damaged) {
        if (damaged.error.code == ErrorCode::corrupt) ids.insert(damaged.snapshots.begin(), damaged.snapshots.end());
    }
    return {ids.begin(), ids.end()};
}

std::string verify_text(const VerifyReport &report, const std::vector<std::string> &notes, bool lost) {
    std::string out;
    for (const std::string &note : notes)
        fmt::format_to(std::back_inserter(out), "{}\n", escaped(note));
    for (const DamagedPayload &damaged : report.damaged) {
        fmt::format_to(std::back_inserter(out), "{}\n  needed by {} {}\n", escaped(damaged.error.what),
                       damaged.snapshots.size() == 1 ? "snapshot" : "snapshots", fmt::join(damaged.snapshots, ", "));
    }
    fmt::format_to(std::back_inserter(out), "{} files checked, {}: {}\n", report.checked, human_bytes(report.bytes),
                   !report.damaged.empty() ? fmt::format("{} damaged", report.damaged.size())
                   : lost                  ? "what is left is whole"
                                           : "all whole");
    if (report.gone > 0) fmt::format_to(std::back_inserter(out), "{} were evicted meanwhile\n", report.gone);
    return out;
}

std::string verify_json(const VerifyReport &report, const std::vector<std::uint64_t> &removed,
                        const std::vector<std::string> &notes, bool lost) {
    using Json = nlohmann::ordered_json;
    Json json{{"checked", report.checked}, {"bytes", report.bytes}, {"gone", report.gone}};
    json["damaged"] = Json::array();
    for (const DamagedPayload &damaged : report.damaged) {
        json["damaged"].push_back({{"payload", damaged.payload},
                                   {"path", damaged.path},
                                   {"error", damaged.error.what},
                                   {"code", name_of(damaged.error.code)},
                                   {"snapshots", damaged.snapshots}});
    }
    json["removed"] = removed;
    json["notes"] = notes;
    json["lost"] = lost;
    return json_text(json);
}

}  // namespace cairn
