#include "store/payload_reader.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/check.h"
#include "store/payload_header.h"

namespace cairn {

int PayloadReader::default_threads() noexcept {
    return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 4u));
}

PayloadReader::PayloadReader(int threads) {
    try {
        threads_.reserve(static_cast<std::size_t>(std::max(threads, 1)));
        while (std::cmp_less(threads_.size() + 1, threads))
            threads_.emplace_back([this] { work(); });
    } catch (const std::exception &) {
        // The machine has no more threads to give: those that run, and the caller, do the work.
    }
}

PayloadReader::~PayloadReader() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread &thread : threads_)
        thread.join();
}

void PayloadReader::add(OpenPayload payload, MutableBytes to) {
    CAIRN_CHECK(to.size() == payload.header.bytes && payload.chunks() == payload_chunks(to.size()),
                "a payload of {} bytes into {}", payload.header.bytes, to.size());
    {
        const std::lock_guard lock(mutex_);
        const std::size_t chunks = payload.chunks();
        pieces_.push_back({std::move(payload), to, chunks});
    }
    changed_.notify_all();
}

Status PayloadReader::wait(std::size_t index) {
    std::unique_lock lock(mutex_);
    CAIRN_CHECK(index < pieces_.size(), "piece {} of {}", index, pieces_.size());
    const Piece &piece = pieces_[index];
    // Chunks are taken in order: those of pieces before the one that failed are under way, and will be there.
    while (piece.done < piece.chunks && !(error_ && failed_ <= index)) {
        if (!read_one(lock)) changed_.wait(lock);
    }
    if (piece.done < piece.chunks) return fail(*error_);
    return {};
}

std::size_t PayloadReader::failed_piece() const {
    const std::lock_guard lock(mutex_);
    return failed_;
}

bool PayloadReader::read_one(std::unique_lock<std::mutex> &lock) {
    while (next_ < pieces_.size() && pieces_[next_].taken == pieces_[next_].chunks)
        ++next_;
    if (next_ == pieces_.size() || error_) return false;
    const std::size_t index = next_;
    Piece &piece = pieces_[index];
    const std::size_t chunk = piece.taken++;
    const OpenPayload &payload = *piece.payload;
    lock.unlock();
    auto done = payload.read_chunk(chunk, piece.to.subspan(chunk * kPayloadChunkBytes, payload.chunk_bytes(chunk)));
    lock.lock();
    if (!done) {
        if (!error_ || index < failed_) {
            error_ = std::move(done.error());
            failed_ = index;
        }
    } else if (++piece.done == piece.chunks) {
        piece.payload.reset();
    } else {
        return true;  // nobody waits for less than a piece
    }
    changed_.notify_all();
    return true;
}

void PayloadReader::work() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (!read_one(lock)) changed_.wait(lock);
    }
}

}  // namespace cairn
