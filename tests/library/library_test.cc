// The public library on a tiny hybrid model with random weights.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "cairn/cairn.h"
#include "tests/support/fixtures.h"
#include "tests/support/temp_folder.h"

namespace cairn {
namespace {

constexpr const char *kText =
    "One stone lies on another, and the traveller who finds them knows where the path goes on.";

ModelOptions options_for(const std::string &fixture) {
    ModelOptions options;
    options.model = fixture_config(fixture);
    options.engine.dynamic_batching.emplace();
    options.engine.dynamic_batching->snapshot_device_bytes = std::size_t{8} << 20;
    options.engine.dynamic_batching->snapshot_ram_bytes = std::size_t{64} << 20;
    return options;
}

std::shared_ptr<Model> open(const ModelOptions &options) {
    auto model = Model::open(options);
    EXPECT_TRUE(model.has_value()) << model.error().what;
    return model ? *model : nullptr;
}

GeneratorOptions greedy(EngineOptions engine = {}) {
    return {.engine = std::move(engine), .sampling = {.temperature = 0}, .max_tokens = 12};
}

class LibraryOnModels : public testing::TestWithParam<const char *> {
protected:
    std::shared_ptr<Model> model_ = open(options_for(GetParam()));
};

INSTANTIATE_TEST_SUITE_P(Fixtures, LibraryOnModels, testing::Values("qwen35", "nemotron_h", "qwen3"),
                         [](const auto &name) { return std::string(name.param); });

TEST_P(LibraryOnModels, AContinuationReusesItsOwnState) {
    Generator generator(model_, greedy());
    const auto first = generator.generate(kText);
    ASSERT_TRUE(first.has_value()) << first.error().what;
    EXPECT_EQ(first->usage.cached_tokens, 0);
    for (int turn = 0; turn < 3; ++turn) {
        const auto said = static_cast<TokenPos>(generator.tokens().size());
        const auto next = generator.continue_with(" And then?");
        ASSERT_TRUE(next.has_value()) << next.error().what;
        // Where the model ended by itself even the last token was computed.
        EXPECT_GE(next->usage.cached_tokens, said - 1) << "turn " << turn << ": counts are of the turn";
        EXPECT_LE(next->usage.cached_tokens, said);
        EXPECT_EQ(next->usage.prompt_tokens + static_cast<TokenPos>(next->tokens.size()),
                  static_cast<TokenPos>(generator.tokens().size()));
    }
    // The same tokens without a cache give the same answer.
    const Tokens prompt = generator.tokens();
    const auto warm = generator.continue_with(" Who built it?");
    auto cold_options = options_for(GetParam());
    cold_options.engine.dynamic_batching->prefix_caching = false;
    Generator cold(open(cold_options), greedy());
    Tokens all = prompt;
    const auto added = model_->tokenize(" Who built it?", false);
    all.insert(all.end(), added->begin(), added->end());
    const auto fresh = cold.generate(all);
    ASSERT_TRUE(warm && fresh);
    EXPECT_EQ(warm->text, fresh->text);
}

TEST_P(LibraryOnModels, EnginesOfTheModelsScopeShareAndPrivateOnesDoNot) {
    Generator first(model_, greedy({.name = "first"}));
    Generator second(model_, greedy({.name = "second"}));
    Generator alone(model_, greedy({.name = "alone", .scope = CacheScope::engine}));
    Generator other(model_, greedy({.name = "other", .scope = CacheScope::engine}));
    ASSERT_TRUE(first.generate(kText).has_value());
    const auto shared = second.generate(kText);
    ASSERT_TRUE(shared.has_value());
    EXPECT_EQ(shared->usage.cached_tokens, shared->usage.prompt_tokens - 1);
    EXPECT_EQ(alone.generate(kText)->usage.cached_tokens, 0);
    EXPECT_EQ(other.generate(kText)->usage.cached_tokens, 0) << "two private engines share nothing";
    const auto again = alone.generate(kText);
    EXPECT_EQ(again->usage.cached_tokens, again->usage.prompt_tokens - 1) << "a private engine finds its own";
}

TEST_P(LibraryOnModels, EventsAndMetricsNameTheEngine) {
    Generator one(model_, greedy({.name = "one"}));
    Generator two(model_, greedy({.name = "two", .scope = CacheScope::engine}));
    EXPECT_EQ(one.generate(kText)->reuse.engine, "one");
    EXPECT_EQ(two.generate(kText)->reuse.engine, "two");
    const std::string metrics = model_->metrics_text();
    EXPECT_NE(metrics.find("cairn_engine_prompt_tokens_total{engine=\"one\"}"), std::string::npos);
    EXPECT_NE(metrics.find("cairn_engine_prompt_tokens_total{engine=\"two\"}"), std::string::npos);
}

TEST_P(LibraryOnModels, AnEngineWaitsForItsRequestsWhenItGoes) {
    std::atomic<int> endings{0};
    {
        Engine engine(model_, {.name = "brief"});
        for (int i = 0; i < 6; ++i) {
            Request request;
            request.prompt = *model_->tokenize(kText);
            request.ignore_eos = true;
            ASSERT_TRUE(
                engine.submit(request, {.started = {},
                                        .delta = {},
                                        .finished = [&](FinishReason, const Usage &, const Timings &) { ++endings; },
                                        .failed = [&](const Error &) { ++endings; }}));
        }
    }
    EXPECT_EQ(endings, 6);
    // The last event comes just before the request leaves the list.
    const auto left = [this] { return model_->stats().running + model_->stats().waiting; };
    for (int i = 0; i < 1000 && left() > 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(left(), 0);
}

TEST_P(LibraryOnModels, ATurnEndsWhereTheCallerHasEnough) {
    auto endless = greedy();
    endless.max_tokens = 900;
    Generator generator(model_, endless);
    int pieces = 0;
    // At the first piece: the model may end by itself after a few.
    const auto turn = generator.generate(kText, [&](std::string_view) { return ++pieces < 1; });
    ASSERT_TRUE(turn.has_value());
    EXPECT_EQ(turn->reason, FinishReason::cancelled);
    EXPECT_EQ(pieces, 1);
    EXPECT_LT(turn->usage.completion_tokens, 900);
}

TEST(Library, FindsItsStateAgainAfterTheModelWasClosed) {
    const TempFolder folder;
    ModelOptions options = options_for("qwen35");
    options.engine.dynamic_batching->snapshot_disk_bytes = std::size_t{256} << 20;
    options.engine.dynamic_batching->snapshot_disk_path = folder.path() + "/cache";
    std::string before;
    const EngineOptions private_engine{.name = "mine", .scope = CacheScope::engine};
    {
        const auto model = open(options);
        ASSERT_NE(model, nullptr);
        const auto second = Model::open(options);
        ASSERT_FALSE(second.has_value()) << "two models on one cache directory";
        EXPECT_NE(second.error().what.find("libcairn"), std::string::npos) << second.error().what;
        Generator generator(model, greedy());
        before = generator.generate(kText)->text;
        ASSERT_TRUE(Generator(model, greedy(private_engine)).generate(kText).has_value());
    }
    const auto model = open(options);
    ASSERT_NE(model, nullptr);
    const auto after = Generator(model, greedy()).generate(kText);
    ASSERT_TRUE(after.has_value());
    EXPECT_EQ(after->text, before);
    EXPECT_EQ(after->usage.cached_tokens, after->usage.prompt_tokens - 1);
    EXPECT_EQ(after->reuse.tier, Tier::disk);
    const auto mine = Generator(model, greedy(private_engine)).generate(kText);
    EXPECT_EQ(mine->usage.cached_tokens, mine->usage.prompt_tokens - 1);
}

TEST(Library, SaysWhatIsWrong) {
    ModelOptions missing = options_for("qwen35");
    missing.model.path = "/nowhere/model.gguf";
    const auto none = Model::open(missing);
    ASSERT_FALSE(none.has_value());
    EXPECT_EQ(none.error().code, ErrorCode::model_file);
    const auto model = open(options_for("qwen35"));
    Generator generator(model, greedy());
    EXPECT_EQ(generator.generate(Tokens{}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(generator.generate(Tokens(5000, 7)).error().code, ErrorCode::context_length);
    EXPECT_TRUE(generator.generate(kText).has_value()) << "an error takes nothing away";
}

}  // namespace
}  // namespace cairn
