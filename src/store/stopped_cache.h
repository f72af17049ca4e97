// StoppedCache: a cache directory that no server uses, for `cairn cache`. Holds its lock while it lives.
//
//     auto directory = CacheDirectory::open(files, path, "pid 71, cairn cache");
//     StoppedCache cache(std::move(*directory), env);
//     cache.remove(std::array{12, 13});
//
// Ownership: owns the directory. Threads: one. Errors: those of CacheDirectory and Catalogue; unsupported for what
// needs a model.
#pragma once

#include <string>
#include <utility>

#include "env/env.h"
#include "store/cache_admin.h"
#include "store/cache_directory.h"
#include "store/snapshot_archive.h"

namespace cairn {

class StoppedCache final : public CacheAdmin {
public:
    StoppedCache(CacheDirectory directory, Env &env) : directory_(std::move(directory)), env_(env) {}
    ~StoppedCache() override { (void)directory_.catalogue.tidy(); }

    [[nodiscard]] Result<SnapshotListing> list() override { return listing_of(directory_, env_.unix_time_s()); }
    [[nodiscard]] Result<Tokens> tokens_of(std::uint64_t id) override;
    [[nodiscard]] Status remove(std::span<const std::uint64_t> ids) override;
    [[nodiscard]] Status keep(std::uint64_t id) override;
    [[nodiscard]] Result<ImportReport> import_archive(const std::string &path, const ImportOptions &options) override;
    [[nodiscard]] Result<WarmReport> warm(const std::string &text) override;

private:
    /// The deepest checkpoint whose whole path `tokens` begin with.
    [[nodiscard]] const StoredSnapshot *deepest_of(const NamespaceKey &ns, TokenView tokens) const;
    /// The part of an archive's text that lies behind `parent` (null: all of it); empty where that is not known.
    [[nodiscard]] std::string text_behind(const NamespaceKey &ns, const StoredSnapshot *parent,
                                          const std::string &text) const;
    [[nodiscard]] Status check_model(const ArchiveHeader &header, bool any_model) const;
    [[nodiscard]] Status reload();

    CacheDirectory directory_;
    Env &env_;
};

}  // namespace cairn
