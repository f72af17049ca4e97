// ScriptedCacheAdmin: a CacheAdmin that holds a listing, and notes what it is asked.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "store/cache_admin.h"

namespace cairn {

class ScriptedCacheAdmin final : public CacheAdmin {
public:
    ScriptedCacheAdmin() {
        listing.directory = "/cache";
        listing.namespaces.push_back({.key = {{}, "acme"}, .model = "tiny", .snapshots = {}, .payloads = {}});
        for (const std::uint64_t id : {3, 4})
            listing.namespaces[0].snapshots.push_back({.id = id, .position = 10, .tiers = {Tier::ram}, .text = "Hi"});
    }

    [[nodiscard]] Result<SnapshotListing> list() override { return listing; }
    [[nodiscard]] Result<Tokens> tokens_of(std::uint64_t id) override {
        if (find_listed(listing, id).snapshot == nullptr)
            return fail(ErrorCode::not_found, "there is no snapshot {}", id);
        return Tokens{1, 2, 3};
    }
    [[nodiscard]] Status remove(std::span<const std::uint64_t> ids) override {
        if (auto known = check_listed(listing, ids); !known) return known;
        for (const std::uint64_t id : ids)
            std::erase_if(listing.namespaces[0].snapshots, [id](const auto &snapshot) { return snapshot.id == id; });
        return {};
    }
    [[nodiscard]] Status keep(std::uint64_t id) override {
        kept = id;
        return {};
    }
    [[nodiscard]] Result<ImportReport> import_archive(const std::string &path, const ImportOptions &options) override {
        imported = path + (options.any_model ? " any" : "");
        return ImportReport{7, true};
    }
    [[nodiscard]] Result<WarmReport> warm(const std::string &text) override {
        warmed = text;
        return WarmReport{8, 100, 40};
    }
    void stop() override { stopped = true; }

    SnapshotListing listing;
    std::uint64_t kept = 0;
    std::string imported;
    std::string warmed;
    std::atomic<bool> stopped{false};
};

}  // namespace cairn
