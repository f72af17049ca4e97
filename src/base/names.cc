// The words of the enums that users see: in headers of an answer, in metrics, on the command line.
#include <array>
#include <cstddef>

#include "cairn/request.h"

namespace cairn {

namespace {

template <class Enum>
struct Name {
    Enum value;
    const char *text;
};

template <class Enum, std::size_t N>
const char *look_up(const std::array<Name<Enum>, N> &table, Enum value) noexcept {
    for (const Name<Enum> &row : table) {
        if (row.value == value) return row.text;
    }
    return "unknown";
}

}  // namespace

const char *name_of(CheckpointKind kind) noexcept {
    static const std::array<Name<CheckpointKind>, 7> table{{
        {CheckpointKind::system_end, "system_end"},
        {CheckpointKind::last_user, "last_user"},
        {CheckpointKind::last_user_end, "last_user_end"},
        {CheckpointKind::prompt_end, "prompt_end"},
        {CheckpointKind::answer_end, "answer_end"},
        {CheckpointKind::interval, "interval"},
        {CheckpointKind::fork, "fork"},
    }};
    return look_up(table, kind);
}

const char *name_of(MissReason reason) noexcept {
    static const std::array<Name<MissReason>, 8> table{{
        {MissReason::none, "none"},
        {MissReason::disabled, "disabled"},
        {MissReason::empty, "empty"},
        {MissReason::diverged, "diverged"},
        {MissReason::no_checkpoint, "no_checkpoint"},
        {MissReason::evicted, "evicted"},
        {MissReason::slower_to_load, "slower_to_load"},
        {MissReason::restore_failed, "restore_failed"},
    }};
    return look_up(table, reason);
}

const char *name_of(FinishReason reason) noexcept {
    static const std::array<Name<FinishReason>, 3> table{{
        {FinishReason::stop, "stop"},
        {FinishReason::length, "length"},
        {FinishReason::cancelled, "cancelled"},
    }};
    return look_up(table, reason);
}

}  // namespace cairn
