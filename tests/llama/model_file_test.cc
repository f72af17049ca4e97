// Files that are no model, each told apart with a sentence that says what to do.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "llama/llama_backend.h"
#include "tests/support/fixtures.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

class ModelFile : public testing::Test {
protected:
    ModelFile() : path_(fs::temp_directory_path() / ("cairn-model-" + std::to_string(getpid()) + ".gguf")) {}
    ~ModelFile() override { fs::remove(path_); }

    void write(const std::string &bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
    static std::string read(const std::string &path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void expect_refused(const std::string &path, ErrorCode code, const std::string &words) const {
        ModelConfig config = fixture_config("qwen3");
        config.path = path;
        const auto opened = open_llama_backend(config, {});
        ASSERT_FALSE(opened.has_value());
        EXPECT_EQ(opened.error().code, code) << opened.error().what;
        EXPECT_NE(opened.error().what.find(words), std::string::npos) << opened.error().what;
    }

    fs::path path_;
};

TEST_F(ModelFile, ThatIsMissing) {
    expect_refused(path_.string(), ErrorCode::model_file, "there is no model file");
}

TEST_F(ModelFile, ThatIsADirectory) {
    expect_refused(fs::temp_directory_path().string(), ErrorCode::model_file, "is a directory");
}

TEST_F(ModelFile, ThatIsEmptyOrForeign) {
    write("");
    expect_refused(path_.string(), ErrorCode::model_file, "only 0 bytes");
    write("PK\x03\x04 not a model at all");
    expect_refused(path_.string(), ErrorCode::model_file, "is not a GGUF file");
}

TEST_F(ModelFile, ThatIsTruncatedAnywhere) {
    const std::string whole = read(fixture_path("qwen3"));
    for (const double share : {0.001, 0.01, 0.05, 0.5, 0.99, 0.9999}) {
        write(whole.substr(0, static_cast<std::size_t>(share * static_cast<double>(whole.size()))));
        ModelConfig config = fixture_config("qwen3");
        config.path = path_.string();
        const auto opened = open_llama_backend(config, {});
        ASSERT_FALSE(opened.has_value()) << share;
        EXPECT_EQ(opened.error().code, ErrorCode::model_file) << opened.error().what;
    }
    write(whole.substr(0, whole.size() / 2));
    expect_refused(path_.string(), ErrorCode::model_file, "is truncated");
}

TEST_F(ModelFile, OfAnArchitectureNobodyKnows) {
    std::string bytes = read(fixture_path("qwen3"));
    const std::size_t at = bytes.find("general.architecture");
    ASSERT_NE(at, std::string::npos);
    const std::size_t value = bytes.find("qwen3", at);
    bytes.replace(value, 5, "zwen9");
    write(bytes);
    expect_refused(path_.string(), ErrorCode::model_unsupported, "zwen9");
}

TEST_F(ModelFile, ThatIsWholeOpens) {
    write(read(fixture_path("qwen3")));
    ModelConfig config = fixture_config("qwen3");
    config.path = path_.string();
    EXPECT_TRUE(open_llama_backend(config, {}).has_value());
}

TEST(ModelConfigOfABackend, IsRefusedWhereItMakesNoSense) {
    ModelConfig config = fixture_config("qwen3");
    config.parallel = 0;
    const auto opened = open_llama_backend(config, {});
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, ErrorCode::invalid_argument);
}

TEST(ModelConfigOfABackend, MayBeAsSmallOrAsWideAsAUserLikes) {
    for (const auto &[context, batch] : {std::pair{1, 512}, {2, 1}, {16, 2}, {512, 1}, {512, 2147483647}}) {
        ModelConfig config = fixture_config("qwen35");
        config.context = context;
        config.batch = batch;
        BackendSizes sizes = fixture_sizes();
        sizes.measure_tax = true;
        const auto opened = open_llama_backend(config, sizes);
        ASSERT_TRUE(opened.has_value()) << opened.error().what;
        EXPECT_LE((*opened)->limits().batch_tokens, batch);
        EXPECT_EQ((*opened)->limits().context, context);
    }
}

/// Of this process. Unit: threads.
std::ptrdiff_t running_threads() {
    return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
}

TEST(OpeningABackend, LeavesNoThreadsThatComputed) {
    // They would be a team of OpenMP beside that of the thread which computes later: see open_llama_backend.
    const std::ptrdiff_t before = running_threads();
    ModelConfig config = fixture_config("qwen35");
    config.threads = 4;
    BackendSizes sizes = fixture_sizes();
    sizes.measure_tax = true;
    const auto opened = open_llama_backend(config, sizes);
    ASSERT_TRUE(opened.has_value()) << opened.error().what;
    for (int i = 0; i < 500 && running_threads() > before; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));  // they end a moment after their leader
    EXPECT_EQ(running_threads(), before);
}

TEST(SamplersOfABackend, TakeWhatAUserMayAskFor) {
    const auto backend = open_llama_backend(fixture_config("qwen35"), fixture_sizes());
    ASSERT_TRUE(backend.has_value());
    const auto size = static_cast<std::size_t>((*backend)->vocabulary().size());
    std::vector<float> logits(size);
    for (std::size_t i = 0; i < size; ++i)
        logits[i] = static_cast<float>(i % 7);
    SamplingParams params;
    params.penalty_last_n = 2147483647;  // more than there is memory for: the context is what there is to look back on
    params.repetition_penalty = 1.5f;
    params.seed = 0xffffffff;  // libllama's word for "any seed"
    std::vector<Token> first;
    for (int round = 0; round < 3; ++round) {
        const auto sampler = (*backend)->make_sampler(params);
        std::vector<Token> drawn;
        for (int i = 0; i < 8; ++i) {
            drawn.push_back(sampler->sample(logits));
            sampler->accept(drawn.back());
        }
        if (round == 0) first = drawn;
        EXPECT_EQ(drawn, first);
    }
}

TEST(LoadingAModel, ShowsProgressAndCanBeStopped) {
    float last = 0;
    EXPECT_TRUE(open_llama_backend(fixture_config("qwen3"), {}, [&](float done) {
                    EXPECT_GE(done, last);
                    last = done;
                    return true;
                }).has_value());
    EXPECT_EQ(last, 1.0f);
    const auto stopped = open_llama_backend(fixture_config("qwen3"), {}, [](float) { return false; });
    ASSERT_FALSE(stopped.has_value());
    EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace cairn
