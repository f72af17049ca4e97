#include "config/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "base/bytes.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A program with one command, `serve`, and the prompt flag of its own that `run` has.
class CommandLine : public ::testing::Test {
protected:
    CommandLine() : serve_(app_.add_subcommand("serve")) {
        serve_->add_option("-p,--prompt", prompt_);
        add_options(*serve_, config_, {OptionGroup::model, OptionGroup::engine, OptionGroup::server});
    }
    ~CommandLine() override {
        if (!file_.empty()) std::remove(file_.c_str());
    }

    void parse(std::vector<const char *> args) {
        args.insert(args.begin(), {"cairn", "serve"});
        parse_command_line(app_, static_cast<int>(args.size()), args.data());
    }
    /// The text of the error that parsing ends with; empty where there is none.
    std::string error_of(const std::vector<const char *> &args) {
        try {
            parse(args);
        } catch (const CLI::ParseError &error) {
            exit_code_ = error.get_exit_code();
            return error.what();
        }
        return "";
    }
    const char *write_file(const char *json) {
        file_ = ::testing::TempDir() + "cairn_cli_" + std::to_string(::getpid()) + ".json";
        std::ofstream(file_) << json;
        return file_.c_str();
    }

    CLI::App app_{"test"};
    Config config_;
    CLI::App *serve_;
    std::string prompt_;
    std::string file_;
    int exit_code_ = 0;
};

TEST_F(CommandLine, AnUnknownFlagIsNamedWithTheOneThatWasProbablyMeant) {
    app_.name("cairn");
    EXPECT_EQ(error_of({"--cache-rm", "5"}), "cairn serve has no flag --cache-rm. Did you mean --cache-ram?");
    EXPECT_EQ(exit_code_, 2);
    EXPECT_EQ(error_of({"--ctx_size=4096"}), "cairn serve has no flag --ctx_size. Did you mean --ctx-size?");
    EXPECT_THAT(error_of({"model.gguf"}), ::testing::HasSubstr("model.gguf")) << "no flag: as CLI11 has it";
}

TEST_F(CommandLine, LongFlagsReachTheirMembers) {
    parse({"--model",
           "m.gguf",
           "--alias",
           "a",
           "--ctx-size",
           "4096",
           "--parallel",
           "2",
           "--threads",
           "3",
           "--threads-batch",
           "5",
           "--batch-size",
           "1024",
           "--ubatch-size",
           "256",
           "--gpu-layers",
           "7",
           "--cache-type-k",
           "q8_0",
           "--cache-type-v",
           "bf16",
           "--chat-template",
           "chatml",
           "--chat-template-file",
           "t.jinja",
           "--no-mmap",
           "--mlock",
           "--swa-full",
           "--host",
           "::1",
           "--port",
           "0",
           "--api-key",
           "k",
           "--max-snapshots",
           "9",
           "--checkpoint-interval",
           "512",
           "--cache-device",
           "1",
           "--cache-ram",
           "2G",
           "--cache-disk",
           "3K",
           "--cache-dir",
           "d",
           "--no-cache"});
    EXPECT_EQ(config_.model.path, "m.gguf");
    EXPECT_EQ(config_.model.alias, "a");
    EXPECT_EQ(config_.model.context, 4096);
    EXPECT_EQ(config_.model.parallel, 2);
    EXPECT_EQ(config_.model.threads, 3);
    EXPECT_EQ(config_.model.threads_batch, 5);
    EXPECT_EQ(config_.model.batch, 1024);
    EXPECT_EQ(config_.model.ubatch, 256);
    EXPECT_EQ(config_.model.gpu_layers, 7);
    EXPECT_EQ(config_.model.type_k, KvType::q8_0);
    EXPECT_EQ(config_.model.type_v, KvType::bf16);
    EXPECT_EQ(config_.model.chat_template, "chatml");
    EXPECT_EQ(config_.model.chat_template_file, "t.jinja");
    EXPECT_FALSE(config_.model.use_mmap);
    EXPECT_TRUE(config_.model.use_mlock);
    EXPECT_TRUE(config_.model.swa_full);
    EXPECT_EQ(config_.server.host, "::1");
    EXPECT_EQ(config_.server.port, 0);
    EXPECT_EQ(config_.server.api_key, "k");
    EXPECT_EQ(config_.engine.checkpoint_interval, 512);
    const auto &batching = config_.engine.dynamic_batching.value();
    EXPECT_EQ(batching.max_snapshots, 9);
    EXPECT_EQ(batching.snapshot_device_bytes, 1_MiB);
    EXPECT_EQ(batching.snapshot_ram_bytes, 2_GiB);
    EXPECT_EQ(batching.snapshot_disk_bytes, 3_KiB);
    EXPECT_EQ(batching.snapshot_disk_path, "d");
    EXPECT_EQ(batching.prefix_caching, false);
}

TEST_F(CommandLine, ShortFlagsReachTheirMembers) {
    parse({"-m", "m.gguf", "-a",   "a",   "-c",  "4096", "-np", "2",    "-t",   "3",    "-tb",
           "5",  "-b",     "1024", "-ub", "256", "-ngl", "all", "-ctk", "q4_0", "-ctv", "q4_1"});
    EXPECT_EQ(config_.model.path, "m.gguf");
    EXPECT_EQ(config_.model.alias, "a");
    EXPECT_EQ(config_.model.context, 4096);
    EXPECT_EQ(config_.model.parallel, 2);
    EXPECT_EQ(config_.model.threads, 3);
    EXPECT_EQ(config_.model.threads_batch, 5);
    EXPECT_EQ(config_.model.batch, 1024);
    EXPECT_EQ(config_.model.ubatch, 256);
    EXPECT_EQ(config_.model.gpu_layers, -1);
    EXPECT_EQ(config_.model.type_k, KvType::q4_0);
    EXPECT_EQ(config_.model.type_v, KvType::q4_1);
}

TEST_F(CommandLine, NoFlagLeavesTheDefaults) {
    parse({});
    EXPECT_EQ(config_.model.parallel, 4);
    EXPECT_EQ(config_.server.port, 8080);
    EXPECT_FALSE(config_.engine.dynamic_batching);
}

TEST_F(CommandLine, NegativeNumbersAreValuesNotFlags) {
    parse({"-ngl", "-1", "-t", "-1", "--parallel", "-1"});
    EXPECT_EQ(config_.model.gpu_layers, -1);
    EXPECT_EQ(config_.model.threads, 0);
    EXPECT_EQ(config_.model.parallel, 4);
}

TEST_F(CommandLine, SecondLongSpellingWorksToo) {
    parse({"--n-gpu-layers=5"});
    EXPECT_EQ(config_.model.gpu_layers, 5);
}

TEST_F(CommandLine, LastOfARepeatedFlagCounts) {
    parse({"-c", "1", "--ctx-size", "2", "-np", "3", "-np", "5", "--no-cache", "--no-cache"});
    EXPECT_EQ(config_.model.context, 2);
    EXPECT_EQ(config_.model.parallel, 5);
    EXPECT_EQ(config_.engine.dynamic_batching->prefix_caching, false);
}

TEST_F(CommandLine, FlagsOverrideTheFileWhereverTheyStand) {
    const char *file = write_file(R"({"model": {"context": 10, "batch": 20}, "server": {"port": 30},
                                      "engine": {"dynamic_batching": {"max_snapshots": 40}}})");
    parse({"--port", "31", "--config", file, "-c", "11", "--cache-ram", "1"});
    EXPECT_EQ(config_.server.port, 31);
    EXPECT_EQ(config_.model.context, 11);
    EXPECT_EQ(config_.model.batch, 20);
    EXPECT_EQ(config_.engine.dynamic_batching->max_snapshots, 40);
    EXPECT_EQ(config_.engine.dynamic_batching->snapshot_ram_bytes, 1_MiB);
}

TEST_F(CommandLine, AdapterFlagsAddUp) {
    parse({"--lora", "a.gguf,b.gguf", "--lora-scaled", "c.gguf:0.5,d.gguf:2", "--lora", "e.gguf"});
    std::vector<std::string> paths;
    for (const auto &adapter : config_.model.adapters)
        paths.push_back(adapter.path);
    EXPECT_THAT(paths, ElementsAre("a.gguf", "b.gguf", "e.gguf", "c.gguf", "d.gguf"));
    EXPECT_EQ(config_.model.adapters[3].scale, 0.5f);
    EXPECT_EQ(config_.model.adapters[4].scale, 2.0f);
}

TEST_F(CommandLine, AdapterFlagsReplaceTheFilesAdapters) {
    const char *file = write_file(R"({"model": {"adapters": ["file.gguf"]}})");
    parse({"--lora-scaled", "c.gguf:0.5", "--config", file});
    ASSERT_EQ(config_.model.adapters.size(), 1u);
    EXPECT_EQ(config_.model.adapters[0].path, "c.gguf");
}

TEST_F(CommandLine, WhatFollowsAValueFlagIsNeverAFlag) {
    parse({"-p", "-ngl", "-c", "7"});
    EXPECT_EQ(prompt_, "-ngl");
    EXPECT_EQ(config_.model.context, 7);
}

TEST_F(CommandLine, ErrorsNameFlagValueAndBounds) {
    EXPECT_EQ(error_of({"--port", "70000"}),
              "--port (key server.port): 70000 is out of bounds. Give it a whole number from 0 to 65535.");
    EXPECT_EQ(exit_code_, 2);
    EXPECT_EQ(error_of({"-np", "many"}),
              "--parallel (key model.parallel): \"many\" is not a value it takes. "
              "Give it a whole number from 1 to 1024, or auto.");
    EXPECT_EQ(error_of({"-c", "12x"}),
              "--ctx-size (key model.context): \"12x\" is not a value it takes. Give it a whole number of at least 0.");
    EXPECT_THAT(error_of({"-c", "99999999999999999999"}),
                HasSubstr("\"99999999999999999999\" is not a value it takes"));
    EXPECT_EQ(
        error_of({"--cache-ram", "4GB"}),
        "--cache-ram (key engine.dynamic_batching.snapshot_ram_bytes): \"4GB\" is not a size. Write a whole number "
        "with K, M or G behind it, such as 512M or 4G; a plain number is MiB, and 0 is off.");
    EXPECT_EQ(error_of({"--lora-scaled", "a.gguf"}),
              "--lora-scaled: \"a.gguf\" is not an adapter with a scale. Write FILE:SCALE, such as style.gguf:0.5.");
    EXPECT_THAT(error_of({"-ctk", "q9"}),
                HasSubstr("--cache-type-k (key model.type_k): \"q9\" is not a value it takes."));
}

TEST_F(CommandLine, MissingFileIsAnErrorWithItsExitCode) {
    EXPECT_THAT(error_of({"--config", "no/such/file.json"}), HasSubstr("no/such/file.json: the configuration file"));
    EXPECT_EQ(exit_code_, 2);
}

TEST_F(CommandLine, UnknownFlagAndMissingValueAreErrors) {
    EXPECT_THAT(error_of({"--no-such-flag"}), HasSubstr("--no-such-flag"));
    EXPECT_THAT(error_of({"-m"}), HasSubstr("--model"));
}

TEST_F(CommandLine, HelpShowsShortSpellingsDefaultsAndLimits) {
    const auto help = serve_->help();
    EXPECT_THAT(help, HasSubstr("[-ngl]"));
    EXPECT_THAT(help, HasSubstr("--ctx-size N"));
    EXPECT_THAT(help, HasSubstr("Default: 8080."));
    EXPECT_THAT(help, HasSubstr("Default: all."));
    EXPECT_THAT(help, HasSubstr("Most state kept on disk, where it outlives a restart."));
    EXPECT_THAT(help, Not(HasSubstr("Default: unset")));
}

TEST_F(CommandLine, OnlyTheChosenGroupsAreRegistered) {
    auto *run = app_.add_subcommand("run");
    Config config;
    add_options(*run, config, {OptionGroup::model});
    EXPECT_NE(run->get_option_no_throw("--model"), nullptr);
    EXPECT_EQ(run->get_option_no_throw("--port"), nullptr);
    EXPECT_EQ(run->get_option_no_throw("--cache-ram"), nullptr);
}

TEST(ExpandShortFlags, SpellsOutOnlyTheTablesMultiLetterFlags) {
    const CLI::App app{"test"};
    EXPECT_THAT(expand_short_flags(app, {"serve", "-ngl", "-c", "-np=3", "-x", "-nglx", "--", "-ngl"}),
                ElementsAre("serve", "--gpu-layers", "-c", "--parallel=3", "-x", "-nglx", "--", "-ngl"));
}

}  // namespace
}  // namespace cairn
