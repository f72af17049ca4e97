#include "server/generation.h"

#include <gtest/gtest.h>

#include "tests/server/scripted_service.h"

namespace cairn {
namespace {

std::vector<Request> requests(std::size_t count) {
    std::vector<Request> result(count);
    for (Request &request : result)
        request.prompt = {1};
    return result;
}

/// Refuses the third request.
struct PickyService final : GenerationService {
    std::vector<std::uint64_t> cancelled;
    std::uint64_t submitted = 0;

    Result<RequestId> submit(Request, RequestEvents) override {
        if (submitted == 2) return fail(ErrorCode::capacity, "full");
        return RequestId{++submitted};
    }
    void cancel(RequestId id) override { cancelled.push_back(id.value()); }
    [[nodiscard]] double retry_after_s() const override { return 0; }
};

TEST(Generation, a_choice_that_is_refused_takes_the_others_down) {
    PickyService service;
    Generation generation(service, 1 << 20, [] {});
    const Status status = generation.submit(requests(3));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::capacity);
    EXPECT_EQ(service.cancelled, (std::vector<std::uint64_t>{1, 2}));
}

TEST(Generation, going_away_cancels_everything_once) {
    PickyService service;
    {
        Generation generation(service, 1 << 20, [] {});
        ASSERT_TRUE(generation.submit(requests(2)));
        generation.cancel();
    }
    EXPECT_EQ(service.cancelled, (std::vector<std::uint64_t>{1, 2}));
}

TEST(Generation, events_that_come_too_late_wake_nobody) {
    ScriptedService service;
    int wakes = 0;
    {
        Generation generation(service, 1 << 20, [&] { ++wakes; });
        ASSERT_TRUE(generation.submit(requests(1)));
        service.call(0)->start();
        EXPECT_EQ(wakes, 1);
    }
    service.call(0)->finish(FinishReason::cancelled);
    EXPECT_EQ(wakes, 1);
    EXPECT_TRUE(service.call(0)->cancelled);
}

}  // namespace
}  // namespace cairn
