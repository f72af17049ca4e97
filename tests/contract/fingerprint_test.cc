// The fingerprint keeps states apart that must not meet, and lets those meet that may.

#include <gtest/gtest.h>

#include <map>

#include "sim/sim_backend.h"
#include "tests/support/fixtures.h"

namespace cairn {
namespace {

Fingerprint of(const ModelConfig &config) {
    const auto backend = open_llama_backend(config, fixture_sizes());
    EXPECT_TRUE(backend) << (backend ? "" : backend.error().what);
    return backend ? (*backend)->layout().fingerprint : Fingerprint{};
}

ModelConfig with_kv(KvType k, KvType v) {
    ModelConfig config = fixture_config("qwen3");
    config.type_k = k;
    config.type_v = v;
    return config;
}

ModelConfig with_adapter(float scale) {
    ModelConfig config = fixture_config("qwen3");
    config.adapters.push_back({fixture_path(kAdapterFixture), scale});
    return config;
}

TEST(LlamaFingerprint, TellsApartWhatMustNotMeet) {
    std::map<std::string, std::string> seen;
    const auto expect_new = [&](const std::string &what, const ModelConfig &config) {
        const auto [at, is_new] = seen.emplace(of(config).hex(), what);
        EXPECT_TRUE(is_new) << what << " looks like " << at->second;
    };
    expect_new("qwen3", fixture_config("qwen3"));
    expect_new("another model", fixture_config("gemma3"));
    expect_new("its quantised version", fixture_config(kQuantisedFixture));
    expect_new("other K", with_kv(KvType::q8_0, KvType::f16));
    expect_new("other V", with_kv(KvType::f16, KvType::q8_0));
    expect_new("other K and V", with_kv(KvType::f32, KvType::f32));
    expect_new("an adapter", with_adapter(1.0f));
    expect_new("the adapter at half its scale", with_adapter(0.5f));
}

TEST(LlamaFingerprint, IsTheSameForTheSameModelInAnotherContext) {
    ModelConfig other = fixture_config("qwen3");
    other.context = 512;
    other.parallel = 2;
    other.batch = 64;
    other.ubatch = 32;
    EXPECT_EQ(of(fixture_config("qwen3")), of(fixture_config("qwen3")));
    EXPECT_EQ(of(fixture_config("qwen3")), of(other));
}

TEST(SimFingerprint, TellsApartWhatMustNotMeet) {
    const auto sim = [](SimConfig config) { return (*open_sim_backend(std::move(config)))->layout().fingerprint; };
    EXPECT_EQ(sim({}), sim({}));
    EXPECT_EQ(sim({}), sim({.pool_cells = 99}));
    EXPECT_NE(sim({}), sim({.weights = "other"}));
    EXPECT_NE(sim({}), sim({.row_bytes = 64}));
    EXPECT_NE(sim({}), sim({.family = SimFamily::attention}));
}

}  // namespace
}  // namespace cairn
