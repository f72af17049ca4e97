// SimConfig: what the simulated model is like. SimControl: how a test meddles with it while it runs.
//
//     auto control = std::make_shared<SimControl>();
//     auto backend = open_sim_backend({.family = SimFamily::hybrid, .pool_cells = 4096, .control = control});
//     control->fail(SimCall::restore, 2, Error{ErrorCode::io, "..."});    // the second restore from now
//     control->before_run([&](const Batch &) { latch.wait(); });          // choreography
//     EXPECT_EQ(control->counters().tokens, 117u);
//
// Threads: SimConfig is a plain value. SimControl may be used from any thread at any time; hooks run on the thread that
// calls the backend, without any lock held.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "cairn/error.h"
#include "cairn/types.h"
#include "model/batch.h"

namespace cairn {

/// Which state the simulated model keeps.
enum class SimFamily : std::uint8_t {
    attention,       ///< rows only; rewinds
    hybrid,          ///< rows and a recurrent boundary
    recurrent,       ///< a recurrent boundary only; takes no cells of the pool
    sliding_window,  ///< rows, and a boundary that holds the last `window` tokens
    whole,           ///< like hybrid, and captured whole only: no rows by span
    none,            ///< like hybrid, and nothing can be carried over
};

[[nodiscard]] const char *name_of(SimFamily family) noexcept;

/// The calls that can be made to fail.
enum class SimCall : std::uint8_t { run, capture, restore, park, adopt, fork };

struct SimCounters {
    std::uint64_t runs = 0;
    std::uint64_t tokens = 0;  ///< computed by run()
    std::uint64_t outputs = 0;
    std::uint64_t captures = 0;
    std::uint64_t captured_bytes = 0;
    std::uint64_t restores = 0;
    std::uint64_t restored_bytes = 0;
    std::uint64_t parks = 0;
    std::uint64_t adopts = 0;
    std::uint64_t forks = 0;
};

class SimControl {
public:
    using RunHook = std::function<void(const Batch &)>;
    using CaptureHook = std::function<void(MutableBytes rows, MutableBytes boundary)>;

    /// The `nth` call from now on (1: the next one) fails with `error`. May be asked for several times.
    void fail(SimCall call, std::uint64_t nth, Error error);
    /// Called at the start of each run(), before anything is checked.
    void before_run(RunHook hook);
    /// Called with what a capture wrote, which it may damage.
    void after_capture(CaptureHook hook);
    [[nodiscard]] SimCounters counters() const;

    // -- for the backend -------------------------------------------------------------------------------------------
    /// Counts one call and gives the error it is to fail with, if any.
    [[nodiscard]] std::optional<Error> enter(SimCall call);
    void call_before_run(const Batch &batch) const;
    void call_after_capture(MutableBytes rows, MutableBytes boundary) const;
    void count(const std::function<void(SimCounters &)> &add);

private:
    struct Planned {
        SimCall call;
        std::uint64_t at;
        Error error;
    };
    mutable std::mutex mutex_;  // guards everything below
    std::array<std::uint64_t, 6> calls_{};
    std::deque<Planned> planned_;
    SimCounters counters_;
    RunHook before_run_;
    CaptureHook after_capture_;
};

struct SimConfig {
    SimFamily family = SimFamily::hybrid;
    std::string weights = "sim";  ///< another name: another model, with other logits and another fingerprint
    TokenPos vocabulary = 512;    ///< at least 260: the bytes, then the control tokens
    TokenPos context = 8192;
    TokenPos pool_cells = 32768;
    std::int32_t live_sequences = 4;
    std::int32_t parked_sequences = 64;
    std::int32_t batch_tokens = 512;
    std::size_t row_bytes = 32;        ///< payload bytes per row; at least 8
    std::size_t boundary_bytes = 256;  ///< payload bytes per boundary; at least 64, sliding window: 32 + 8 x window
    TokenPos window = 16;              ///< sliding window: tokens that its boundary holds; at most 4096
    double tax = 0.0;                  ///< what parked_cell_tax() says
    bool adds_bos = false;
    /// False: restore believes every payload of the right size, as a backend does that checks nothing. For tests that
    /// want to see wrong logits instead of an error.
    bool checks_payloads = true;
    /// Added to the logits of tokens that end a generation. -1e9: generations never end by themselves.
    float end_bias = 0.0f;
    /// When it gives a token for a state of `length` tokens, that one becomes the most likely by far.
    std::function<std::optional<Token>(TokenPos length)> forced_token = nullptr;
    std::shared_ptr<SimControl> control = nullptr;  ///< none: the backend makes one of its own
};

}  // namespace cairn
