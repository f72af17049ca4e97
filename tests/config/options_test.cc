#include "config/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/bytes.h"
#include "config/config.h"
#include "config/option_value.h"
#include "config/options_docs.h"
#include "config/serve_defaults.h"
#include "tests/support/docs_file.h"

namespace cairn {
namespace {

TEST(OptionsTable, KeysAndFlagsAreUnique) {
    std::set<std::string> keys;
    std::set<std::string> flags;
    for (const auto &option : options()) {
        if (*option.key != '\0') {
            EXPECT_TRUE(keys.insert(option.key).second) << option.key;
        }
        for (const auto &flag : flag_spellings(option))
            EXPECT_TRUE(flags.insert(flag).second) << flag;
    }
    for (const char *flag : {"-m",
                             "--model",
                             "-a",
                             "--alias",
                             "-c",
                             "--ctx-size",
                             "-t",
                             "--threads",
                             "-tb",
                             "--threads-batch",
                             "-b",
                             "--batch-size",
                             "-ub",
                             "--ubatch-size",
                             "-np",
                             "--parallel",
                             "-ngl",
                             "--gpu-layers",
                             "--n-gpu-layers",
                             "-ctk",
                             "--cache-type-k",
                             "-ctv",
                             "--cache-type-v",
                             "--lora",
                             "--lora-scaled",
                             "--chat-template",
                             "--chat-template-file",
                             "--no-mmap",
                             "--mlock",
                             "--swa-full",
                             "--host",
                             "--port",
                             "--api-key",
                             "--no-cache",
                             "--cache-device",
                             "--cache-ram",
                             "--cache-disk",
                             "--cache-dir",
                             "--max-snapshots",
                             "--checkpoint-interval"}) {
        EXPECT_TRUE(flags.contains(flag)) << flag;
    }
    for (const char *key :
         {"max_batch_size", "max_scheduled_tokens", "prefix_caching", "max_snapshots", "device_memory_budget_bytes",
          "device_memory_headroom_bytes", "gpu_utilization_factor", "snapshot_device_bytes", "snapshot_ram_bytes",
          "snapshot_disk_bytes", "snapshot_disk_path"}) {
        EXPECT_TRUE(keys.contains(std::string("engine.dynamic_batching.") + key)) << key;
    }
}

TEST(OptionsTable, EveryRowIsReachableAndExplained) {
    for (const auto &option : options()) {
        SCOPED_TRACE(spelling_of(option));
        EXPECT_TRUE(*option.key != '\0' || *option.flags != '\0');
        EXPECT_TRUE(std::string(option.help).ends_with("."));
        EXPECT_LE(option.bounds.min, option.bounds.max);
        const auto flags = flag_spellings(option);
        if (!flags.empty()) {
            EXPECT_TRUE(flags.back().starts_with("--"));
        }
        const std::string key = option.key;
        if (key.empty()) continue;
        const auto sections = option_sections();
        const auto section = key.substr(0, key.rfind('.'));
        EXPECT_TRUE(std::any_of(sections.begin(), sections.end(), [&](const auto &s) { return section == s.key; }));
    }
}

TEST(OptionsTable, DefaultsAreWithinTheirBounds) {
    for (const auto &option : options()) {
        const auto *whole = std::get_if<MemberOf<std::int32_t>>(&option.member);
        if (!whole) continue;
        Config config;
        const auto value = (*whole)(config);
        EXPECT_TRUE(assign(option, config, OptionValue{std::int64_t{value}})) << spelling_of(option);
        EXPECT_EQ((*whole)(config), value) << spelling_of(option);
    }
}

TEST(OptionsTable, RefusedValueLeavesTheOldOne) {
    for (const auto &option : options()) {
        if (std::string(option.key) != "server.port") continue;
        Config config;
        EXPECT_FALSE(assign(option, config, OptionValue{std::int64_t{-1}}));
        EXPECT_EQ(config.server.port, 8080);
        EXPECT_EQ(shown_value(option, config), "8080");
    }
}

TEST(OptionsTable, PageIsUpToDate) {
    EXPECT_EQ(docs_file("configuration.md"), options_markdown()) << "Run tools/gen-docs.";
}

TEST(ServeDefaults, GiveATenthOfTheDiskInTheUsersCacheDirectory) {
    Config config;
    apply_serve_defaults(config, {.cache_directory = "cache/cairn", .disk_bytes = 200_GiB});
    EXPECT_EQ(config.engine.dynamic_batching->snapshot_disk_bytes, 20_GiB);
    EXPECT_EQ(config.engine.dynamic_batching->snapshot_disk_path, "cache/cairn");
    Config large;
    apply_serve_defaults(large, {.cache_directory = "/c", .disk_bytes = 2000_GiB});
    EXPECT_EQ(large.engine.dynamic_batching->snapshot_disk_bytes, 64_GiB);
    Config none;
    apply_serve_defaults(none, {.disk_bytes = 200_GiB});
    EXPECT_EQ(none.engine.dynamic_batching->snapshot_disk_bytes, 0u);
}

TEST(ServeDefaults, GiveDeviceAndRamByTheMachinesMemory) {
    Config config;
    apply_serve_defaults(config, {.ram_bytes = 16_GiB});
    const auto &batching = config.engine.dynamic_batching.value();
    EXPECT_EQ(batching.prefix_caching, true);
    EXPECT_EQ(batching.snapshot_ram_bytes, 4_GiB);
    EXPECT_EQ(batching.snapshot_device_bytes, 1_GiB);
    EXPECT_EQ(batching.snapshot_disk_bytes, 0u) << "there is nowhere to put it";
    EXPECT_EQ(batching.max_snapshots, std::nullopt);
}

TEST(ServeDefaults, SmallOrUnknownMachinesGetTheLeast) {
    for (const std::size_t ram : {std::size_t{0}, 512_MiB}) {
        Config config;
        apply_serve_defaults(config, {.ram_bytes = ram});
        EXPECT_EQ(config.engine.dynamic_batching->snapshot_ram_bytes, 256_MiB);
        EXPECT_EQ(config.engine.dynamic_batching->snapshot_device_bytes, 64_MiB);
    }
}

TEST(ServeDefaults, DevicesOwnMemoryCountsForTheDevice) {
    Config config;
    apply_serve_defaults(config, {.ram_bytes = 16_GiB, .device_bytes = 48_GiB});
    EXPECT_EQ(config.engine.dynamic_batching->snapshot_ram_bytes, 4_GiB);
    EXPECT_EQ(config.engine.dynamic_batching->snapshot_device_bytes, 3_GiB);
}

TEST(ServeDefaults, FillOnlyWhatIsUnset) {
    Config config;
    config.engine.dynamic_batching.emplace();
    config.engine.dynamic_batching->snapshot_ram_bytes = 0;
    config.engine.dynamic_batching->max_snapshots = 3;
    apply_serve_defaults(config, {.ram_bytes = 16_GiB});
    EXPECT_EQ(config.engine.dynamic_batching->snapshot_ram_bytes, 0u);
    EXPECT_EQ(config.engine.dynamic_batching->snapshot_device_bytes, 1_GiB);
    EXPECT_EQ(config.engine.dynamic_batching->max_snapshots, 3);
}

TEST(ServeDefaults, NoCacheStaysNoCache) {
    Config config;
    config.engine.dynamic_batching.emplace().prefix_caching = false;
    apply_serve_defaults(config, {.ram_bytes = 16_GiB});
    EXPECT_EQ(config.engine.dynamic_batching->prefix_caching, false);
    EXPECT_EQ(config.engine.dynamic_batching->snapshot_ram_bytes, std::nullopt);
}

}  // namespace
}  // namespace cairn
