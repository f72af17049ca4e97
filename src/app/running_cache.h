// RunningCache: the cache of a running server, through its admin interface (server/admin_routes.h).
//
//     RunningCache cache(*parse_admin_line(holder), directory, "pid 71, cairn serve");
//     auto listing = cache.list();
//
// Threads: one. Errors: io where the server does not answer, with its process and what to do; else what the server
// says, with its code.
#pragma once

#include <string>
#include <utility>

#include "server/http_client.h"
#include "store/cache_admin.h"

namespace cairn {

class RunningCache final : public CacheAdmin {
public:
    /// `directory`: as this process calls it. `holder`: what the server is to people: "pid 71, cairn serve -m x.gguf".
    RunningCache(HttpTarget server, std::string directory, std::string holder)
        : server_(std::move(server)), directory_(std::move(directory)), holder_(std::move(holder)) {}

    [[nodiscard]] Result<SnapshotListing> list() override;
    [[nodiscard]] Result<Tokens> tokens_of(std::uint64_t id) override;
    [[nodiscard]] Status remove(std::span<const std::uint64_t> ids) override;
    [[nodiscard]] Status keep(std::uint64_t id) override;
    [[nodiscard]] Result<ImportReport> import_archive(const std::string &path, const ImportOptions &options) override;
    [[nodiscard]] Result<WarmReport> warm(const std::string &text) override;

private:
    [[nodiscard]] Result<std::string> call(const char *method, const std::string &path, const std::string &body,
                                           double timeout_s);

    HttpTarget server_;
    std::string directory_;
    std::string holder_;
};

}  // namespace cairn
