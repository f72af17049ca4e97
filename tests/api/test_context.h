// An ApiContext over the fake vocabulary, for tests of the wire formats.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "api/api.h"
#include "tests/api/fake_vocabulary.h"

namespace cairn::test {

class TestContext {
public:
    explicit TestContext(TokenPos context = 2000)
        : chat_(ChatTemplate::create("chatml", vocabulary_).value()),
          api_{vocabulary_, *chat_, model_, {.context = context, .pool_cells = context}, "tiny"} {}

    [[nodiscard]] const ApiContext &api() const { return api_; }
    [[nodiscard]] const FakeVocabulary &vocabulary() const { return vocabulary_; }

    [[nodiscard]] ApiCall chat(const std::string &body) const { return valid(parse_chat_completion(body, api_), body); }
    [[nodiscard]] ApiCall completion(const std::string &body) const {
        return valid(parse_completion(body, api_), body);
    }

private:
    static ApiCall valid(Result<ApiCall> call, const std::string &body) {
        EXPECT_TRUE(call) << body << ": " << (call ? "" : call.error().what);
        return call ? std::move(*call) : ApiCall{};
    }

    FakeVocabulary vocabulary_;
    std::unique_ptr<ChatTemplate> chat_;
    ModelInfo model_{.name = "tiny",
                     .description = "a test model",
                     .architecture = "test",
                     .chat_template = "",
                     .file_bytes = 1000,
                     .parameters = 500,
                     .trained_context = 4096};
    ApiContext api_;
};

}  // namespace cairn::test
