// SessionSet: the connections that are open now.
//
// It owns none of them: a connection is in the set from its start to its destruction.
// Threads: any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace cairn {

class Session;

class SessionSet {
public:
    void add(Session *session);
    void remove(Session *session);
    [[nodiscard]] std::size_t size() const;
    /// Those that are not being destroyed at this moment.
    [[nodiscard]] std::vector<std::shared_ptr<Session>> all() const;
    /// Blocks until none is left, or for `patience`; true for none left.
    bool wait_until_empty(std::chrono::milliseconds patience) const;

private:
    mutable std::mutex mutex_;  // guards sessions_
    mutable std::condition_variable emptied_;
    std::unordered_set<Session *> sessions_;
};

}  // namespace cairn
