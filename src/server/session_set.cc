#include "server/session_set.h"

#include "server/session.h"

namespace cairn {

void SessionSet::add(Session *session) {
    const std::lock_guard lock(mutex_);
    sessions_.insert(session);
}

void SessionSet::remove(Session *session) {
    const std::lock_guard lock(mutex_);
    sessions_.erase(session);
    if (sessions_.empty()) emptied_.notify_all();
}

std::size_t SessionSet::size() const {
    const std::lock_guard lock(mutex_);
    return sessions_.size();
}

std::vector<std::shared_ptr<Session>> SessionSet::all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Session>> result;
    result.reserve(sessions_.size());
    for (Session *session : sessions_) {
        // Null while its destructor waits for mutex_ to leave the set.
        if (auto alive = session->weak_from_this().lock()) result.push_back(std::move(alive));
    }
    return result;
}

bool SessionSet::wait_until_empty(std::chrono::milliseconds patience) const {
    std::unique_lock lock(mutex_);
    return emptied_.wait_for(lock, patience, [&] { return sessions_.empty(); });
}

}  // namespace cairn
