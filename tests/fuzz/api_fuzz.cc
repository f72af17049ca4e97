// What a client may send: any bytes must give a call or an error, and every call an answer that is JSON.
//
//     clang++ -fsanitize=fuzzer,address,undefined ... tests/fuzz/api_fuzz.cc <the sanitized libraries>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "api/api.h"
#include "base/check.h"
#include "tests/api/fake_vocabulary.h"
#include "tests/api/templates.h"

namespace cairn {
namespace {

struct Fixture {
    test::FakeVocabulary vocabulary;
    std::unique_ptr<ChatTemplate> chat = ChatTemplate::create(test::kThinkingTemplate, vocabulary).value();
    ModelInfo model;
    ApiContext context{vocabulary, *chat, model, {.context = 4096, .pool_cells = 4096}, "fuzz"};
};

void answer(const Result<ApiCall> &call, const ApiContext &context) {
    if (!call) {
        CAIRN_CHECK(nlohmann::json::accept(error_body(call.error())), "{}", call.error().what);
        return;
    }
    CAIRN_CHECK(!call->requests.empty(), "a call without a choice");
    for (const Request &request : call->requests) {
        CAIRN_CHECK(!request.prompt.empty(), "an empty prompt");
        for (const Token token : request.prompt)
            CAIRN_CHECK(context.vocabulary.contains(token), "token {}", token);
    }
    ResponseWriter writer(*call, context, "id", 0);
    for (std::size_t i = 0; i < call->requests.size(); ++i) {
        (void)writer.begin(i);
        (void)writer.delta(i, "text", {{{1, "\xff", -1.0f}, {}}});
        (void)writer.finish(i, FinishReason::stop, {}, {});
    }
    const std::string end = writer.end();
    CAIRN_CHECK(call->stream || nlohmann::json::accept(end), "{}", end);
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    static const cairn::Fixture fixture;
    const std::string_view body(reinterpret_cast<const char *>(data), size);
    cairn::answer(cairn::parse_chat_completion(body, fixture.context), fixture.context);
    cairn::answer(cairn::parse_completion(body, fixture.context), fixture.context);
    return 0;
}
