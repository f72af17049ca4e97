#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "config/config.h"
#include "config/options.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view json) {
    const auto config = parse_config(json);
    EXPECT_FALSE(config) << json;
    if (config) return "";
    EXPECT_EQ(config.error().code, ErrorCode::invalid_argument);
    return config.error().what;
}

TEST(ParseConfig, EmptyObjectGivesTheDefaults) {
    const auto config = parse_config("{}").value();
    EXPECT_EQ(config.model.path, "");
    EXPECT_EQ(config.model.parallel, 4);
    EXPECT_EQ(config.model.batch, 2048);
    EXPECT_EQ(config.model.gpu_layers, -1);
    EXPECT_EQ(config.model.type_k, KvType::f16);
    EXPECT_TRUE(config.model.use_mmap);
    EXPECT_FALSE(config.engine.dynamic_batching);
    EXPECT_EQ(config.engine.checkpoint_interval, 8192);
    EXPECT_EQ(config.server.host, "127.0.0.1");
    EXPECT_EQ(config.server.port, 8080);
}

TEST(ParseConfig, EveryKeyReachesItsMember) {
    const auto config = parse_config(R"({
        // comments are allowed
        "model": {"path": "m.gguf", "alias": "a,b", "context": 4096, "parallel": 2, "threads": 3, "threads_batch": 5,
                  "batch": 1024, "ubatch": 256, "gpu_layers": 7, "type_k": "q8_0", "type_v": "bf16",
                  "adapters": ["x.gguf", {"path": "y.gguf", "scale": 0.5}], "chat_template": "chatml",
                  "chat_template_file": "t.jinja", "use_mmap": false, "use_mlock": true, "swa_full": true},
        "engine": {"checkpoint_interval": 512,
                   "dynamic_batching": {"prefix_caching": false, "snapshot_device_bytes": 1, "snapshot_ram_bytes": 2,
                       "snapshot_disk_bytes": 18446744073709551615, "snapshot_disk_path": "d", "max_snapshots": 9,
                       "max_batch_size": 6, "max_scheduled_tokens": 77, "device_memory_budget_bytes": 10,
                       "device_memory_headroom_bytes": 11, "gpu_utilization_factor": 0.5}},
        "server": {"host": "0.0.0.0", "port": 0, "api_key": "k", "max_body_bytes": 2048, "max_connections": 8}
    })")
                            .value();
    EXPECT_EQ(config.model.path, "m.gguf");
    EXPECT_EQ(config.model.alias, "a,b");
    EXPECT_EQ(config.model.context, 4096);
    EXPECT_EQ(config.model.parallel, 2);
    EXPECT_EQ(config.model.threads, 3);
    EXPECT_EQ(config.model.threads_batch, 5);
    EXPECT_EQ(config.model.batch, 1024);
    EXPECT_EQ(config.model.ubatch, 256);
    EXPECT_EQ(config.model.gpu_layers, 7);
    EXPECT_EQ(config.model.type_k, KvType::q8_0);
    EXPECT_EQ(config.model.type_v, KvType::bf16);
    ASSERT_EQ(config.model.adapters.size(), 2u);
    EXPECT_EQ(config.model.adapters[0].path, "x.gguf");
    EXPECT_EQ(config.model.adapters[0].scale, 1.0f);
    EXPECT_EQ(config.model.adapters[1].path, "y.gguf");
    EXPECT_EQ(config.model.adapters[1].scale, 0.5f);
    EXPECT_EQ(config.model.chat_template, "chatml");
    EXPECT_EQ(config.model.chat_template_file, "t.jinja");
    EXPECT_FALSE(config.model.use_mmap);
    EXPECT_TRUE(config.model.use_mlock);
    EXPECT_TRUE(config.model.swa_full);
    EXPECT_EQ(config.engine.checkpoint_interval, 512);
    const auto &batching = config.engine.dynamic_batching.value();
    EXPECT_EQ(batching.prefix_caching, false);
    EXPECT_EQ(batching.snapshot_device_bytes, 1u);
    EXPECT_EQ(batching.snapshot_ram_bytes, 2u);
    EXPECT_EQ(batching.snapshot_disk_bytes, 18446744073709551615u);
    EXPECT_EQ(batching.snapshot_disk_path, "d");
    EXPECT_EQ(batching.max_snapshots, 9);
    EXPECT_EQ(batching.max_batch_size, 6);
    EXPECT_EQ(batching.max_scheduled_tokens, 77);
    EXPECT_EQ(batching.device_memory_budget_bytes, 10u);
    EXPECT_EQ(batching.device_memory_headroom_bytes, 11u);
    EXPECT_EQ(batching.gpu_utilization_factor, 0.5);
    EXPECT_EQ(config.server.host, "0.0.0.0");
    EXPECT_EQ(config.server.port, 0);
    EXPECT_EQ(config.server.api_key, "k");
    EXPECT_EQ(config.server.max_body_bytes, 2048u);
    EXPECT_EQ(config.server.max_connections, 8);
}

TEST(ParseConfig, EmptyBatchingSectionCountsAsGiven) {
    const auto config = parse_config(R"({"engine": {"dynamic_batching": {}}})").value();
    ASSERT_TRUE(config.engine.dynamic_batching);
    EXPECT_FALSE(config.engine.dynamic_batching->prefix_caching);
    EXPECT_FALSE(config.engine.dynamic_batching->snapshot_ram_bytes);
    EXPECT_FALSE(parse_config(R"({"engine": {}})").value().engine.dynamic_batching);
}

TEST(ParseConfig, UnknownKeyNamesTheClosestOne) {
    EXPECT_EQ(error_of(R"({"server": {"prot": 1}})"),
              "configuration: the key server.prot is unknown. Did you mean server.port? "
              "docs/configuration.md lists all keys.");
    EXPECT_THAT(error_of(R"({"engine": {"snapshot_ram_bytes": 1}})"),
                HasSubstr("Did you mean engine.dynamic_batching.snapshot_ram_bytes?"));
    EXPECT_THAT(error_of(R"({"modle": {"path": "x"}})"), HasSubstr("the key modle is unknown"));
    EXPECT_THAT(error_of(R"({"": 1})"), HasSubstr("is unknown"));
}

TEST(ParseConfig, WrongTypeNamesKeyFlagValueAndWhatIsWanted) {
    EXPECT_EQ(error_of(R"({"server": {"port": "http"}})"),
              "configuration: --port (key server.port): \"http\" is not a value it takes. "
              "Give it a whole number from 0 to 65535.");
    EXPECT_EQ(error_of(R"({"model": {"use_mmap": 1}})"),
              "configuration: --no-mmap (key model.use_mmap): 1 is not a value it takes. Give it true or false.");
    EXPECT_EQ(error_of(R"({"model": {"path": null}})"),
              "configuration: --model (key model.path): a value of type null is not one it takes. Give it a text.");
    EXPECT_EQ(error_of(R"({"model": {"context": 1.0}})"),
              "configuration: --ctx-size (key model.context): 1 is not a value it takes. "
              "Give it a whole number of at least 0.");
    EXPECT_EQ(error_of(R"({"model": {"type_k": "q9"}})"),
              "configuration: --cache-type-k (key model.type_k): \"q9\" is not a value it takes. "
              "Give it one of f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0, q5_1.");
    EXPECT_EQ(error_of(R"({"engine": {"dynamic_batching": {"max_batch_size": true}}})"),
              "configuration: key engine.dynamic_batching.max_batch_size: true is not a value it takes. "
              "Give it a whole number of at least 1.");
    EXPECT_EQ(error_of(R"({"engine": {"dynamic_batching": {"snapshot_ram_bytes": "4G"}}})"),
              "configuration: --cache-ram (key engine.dynamic_batching.snapshot_ram_bytes): \"4G\" is not a value it "
              "takes. Give it a whole number of bytes of at least 0.");
    EXPECT_EQ(error_of(R"({"engine": 3})"),
              "configuration: the key engine takes an object of keys, not a value of type number.");
}

TEST(ParseConfig, OutOfBoundsNamesTheBounds) {
    EXPECT_EQ(
        error_of(R"({"server": {"port": 65536}})"),
        "configuration: --port (key server.port): 65536 is out of bounds. Give it a whole number from 0 to 65535.");
    EXPECT_EQ(error_of(R"({"model": {"parallel": 0}})"),
              "configuration: --parallel (key model.parallel): 0 is out of bounds. "
              "Give it a whole number from 1 to 1024, or auto.");
    EXPECT_EQ(error_of(R"({"engine": {"dynamic_batching": {"gpu_utilization_factor": 1.5}}})"),
              "configuration: key engine.dynamic_batching.gpu_utilization_factor: 1.5 is out of bounds. "
              "Give it a number from 0.01 to 1.");
    EXPECT_THAT(error_of(R"({"engine": {"dynamic_batching": {"snapshot_ram_bytes": -1}}})"),
                HasSubstr("-1 is out of bounds"));
    EXPECT_THAT(error_of(R"({"model": {"context": 2147483648}})"), HasSubstr("2147483648 is out of bounds"));
    EXPECT_THAT(error_of(R"({"model": {"context": 18446744073709551615}})"), HasSubstr("is out of bounds"));
    EXPECT_THAT(error_of(R"({"model": {"gpu_layers": -3}})"), HasSubstr("-3 is out of bounds"));
    EXPECT_THAT(error_of(R"({"engine": {"checkpoint_interval": -1}})"), HasSubstr("of at least 0"));
}

TEST(ParseConfig, WordsStandForNumbers) {
    EXPECT_EQ(parse_config(R"({"model": {"gpu_layers": "all"}})").value().model.gpu_layers, -1);
    EXPECT_EQ(parse_config(R"({"model": {"gpu_layers": "auto"}})").value().model.gpu_layers, -1);
    EXPECT_EQ(parse_config(R"({"model": {"gpu_layers": -1}})").value().model.gpu_layers, -1);
    EXPECT_EQ(parse_config(R"({"model": {"threads": -1}})").value().model.threads, 0);
    EXPECT_EQ(parse_config(R"({"model": {"parallel": -1}})").value().model.parallel, 4);
}

TEST(ParseConfig, BadAdaptersAreErrors) {
    for (const char *adapters : {R"("x.gguf")", R"([1])", R"([{"scale": 1}])", R"([{"path": "x", "scale": "1"}])",
                                 R"([{"path": "x", "weight": 1}])", R"([{"path": 1}])", R"({})"}) {
        const auto what = error_of(fmt::format(R"({{"model": {{"adapters": {}}}}})", adapters));
        EXPECT_THAT(what, HasSubstr("--lora (key model.adapters)")) << adapters;
        EXPECT_THAT(what, HasSubstr("Give it a list of paths or of {\"path\": ..., \"scale\": ...}.")) << adapters;
    }
}

TEST(ParseConfig, InvalidJsonSaysWhere) {
    const auto what = error_of("{\"model\": {\n  \"path\": }}");
    EXPECT_THAT(what, StartsWith("configuration: this is not valid JSON: parse error at line 2, column "));
    EXPECT_THAT(error_of(""), StartsWith("configuration: this is not valid JSON"));
    EXPECT_THAT(error_of("\xff"), StartsWith("configuration: this is not valid JSON"));
    EXPECT_EQ(error_of("[]"), "configuration: a configuration is a JSON object, not a value of type array.");
}

TEST(LoadConfigFile, ReadsAFileAndNamesItInErrors) {
    const std::string path = ::testing::TempDir() + "cairn_config_" + std::to_string(::getpid()) + ".json";
    std::ofstream(path) << R"({"server": {"port": 1234}})";
    EXPECT_EQ(load_config_file(path).value().server.port, 1234);
    std::ofstream(path) << R"({"server": {"port": -1}})";
    EXPECT_THAT(load_config_file(path).error().what, StartsWith(path + ": --port"));
    std::remove(path.c_str());
}

TEST(LoadConfigFile, MissingFileAndDirectoryAreErrors) {
    const auto missing = load_config_file("no/such/file.json");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
    EXPECT_EQ(missing.error().what,
              "no/such/file.json: the configuration file cannot be opened: No such file or directory.");
    const auto directory = load_config_file(::testing::TempDir());
    ASSERT_FALSE(directory);
    EXPECT_EQ(directory.error().code, ErrorCode::io);
}

}  // namespace
}  // namespace cairn
