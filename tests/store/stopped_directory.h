// StoppedDirectory: a cache directory on a simulated disk with real payload files, made without an engine.
//
//     StoppedDirectory made;
//     made.add(10);                          // snapshot 10 of 10 tokens, with rows 11 and boundary 12
//     made.add(20, {10, 11, 10});            // goes on from it
//     StoppedCache cache = made.open();
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "store/stopped_cache.h"
#include "tests/store/catalogue_bench.h"
#include "tests/support/manual_env.h"

namespace cairn::test {

class StoppedDirectory {
public:
    static constexpr const char *kPath = "/cache";

    /// Entries as entry_of() makes them.
    void add(std::uint64_t id, const Base &base = {}, const NamespaceKey &ns = namespace_key(),
             std::int64_t last_use_unix_s = 1'700'000'000) {
        auto directory = CacheDirectory::open(env.files(), kPath, "a test");
        ASSERT_TRUE(directory.has_value()) << directory.error().what;
        CatalogueEntry entry = entry_of(id, base, 10, ns);
        entry.snapshot.last_use_unix_s = last_use_unix_s;
        Tokens path = base.snapshot == 0 ? Tokens{} : paths_[base.snapshot];
        path.insert(path.end(), entry.snapshot.tokens.begin(), entry.snapshot.tokens.end());
        paths_[id] = path;
        for (StoredPayload &payload : entry.payloads) {
            const PayloadHeader header = describe_payload(payload.kind, payload.id, ns, path, payload.span);
            const std::vector<std::byte> bytes(payload.bytes, static_cast<std::byte>(payload.id));
            payload.file_bytes = payload_file_bytes(payload.bytes, header.tokens.size());
            ASSERT_TRUE(directory->make_folder_of(payload.id).has_value());
            const auto written = write_payload_file(env.files(), directory->path_of(payload.id), header, bytes);
            ASSERT_TRUE(written.has_value()) << written.error().what;
        }
        const auto put = directory->catalogue.put(entry);
        ASSERT_TRUE(put.has_value()) << put.error().what;
    }
    [[nodiscard]] StoppedCache open(const std::string &path = kPath) {
        auto directory = CacheDirectory::open(env.files(), path, "a test");
        EXPECT_TRUE(directory.has_value()) << directory.error().what;
        return StoppedCache(std::move(*directory), env);
    }
    [[nodiscard]] const Tokens &path_of(std::uint64_t id) { return paths_[id]; }
    [[nodiscard]] bool has_file(std::uint64_t payload, const std::string &path = kPath) {
        return env.files().info(payload_path_of(path, payload)).has_value();
    }
    /// Turns one byte of a payload's file over.
    void damage(std::uint64_t payload) {
        const auto file = env.files().open(payload_path_of(kPath, payload), OpenMode::read_write);
        ASSERT_TRUE(file.has_value());
        const auto last = (*file)->size().value() - 1;
        std::byte byte{};
        ASSERT_TRUE(read_exactly(**file, last, MutableBytes(&byte, 1)).has_value());
        byte ^= std::byte{1};
        ASSERT_TRUE(write_all(**file, last, Bytes(&byte, 1)).has_value());
    }

    ManualEnv env;

private:
    std::map<std::uint64_t, Tokens> paths_;
};

[[nodiscard]] inline std::vector<std::uint64_t> ids_in(const SnapshotListing &listing) {
    std::vector<std::uint64_t> ids;
    for (const ListedNamespace &ns : listing.namespaces) {
        for (const ListedSnapshot &snapshot : ns.snapshots)
            ids.push_back(snapshot.id);
    }
    return ids;
}

}  // namespace cairn::test
