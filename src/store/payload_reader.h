// PayloadReader: reads payload files into memory in the order they are added, with several threads, while the caller
// uses what is there already.
//
//     PayloadReader reader(4);                                  // the caller and up to three more
//     reader.add(std::move(rows), rows_memory);                 // an OpenPayload and exactly its bytes
//     reader.add(std::move(boundary), boundary_memory);
//     if (auto ready = reader.wait(0); !ready) return ready;    // reads along until the rows are there, and checked
//     use(rows_memory);                                         // the others read the boundary meanwhile
//     if (auto ready = reader.wait(1); !ready) return ready;
//
// The unit of work is a chunk of a payload file. Why in order and not by piece: the second piece is ready when the
// first one has been used, however different their sizes.
//
// Ownership: holds the files until they are read; borrows the memory until it is gone, which waits for chunks under
// way. A piece that cannot be read ends the reading of those behind it; those before it stay, or still become ready.
// Threads: add() and wait() on one. The others end with the reader; where the machine gives none, the caller does it
// all. Errors: those of OpenPayload::read_chunk, of the first piece, in their order, that is known to have failed.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "cairn/error.h"
#include "store/payload_file.h"

namespace cairn {

class PayloadReader {
public:
    /// `threads`: with the caller's. They start at once, so that they are awake when there is work.
    explicit PayloadReader(int threads = default_threads());
    ~PayloadReader();
    PayloadReader(const PayloadReader &) = delete;
    PayloadReader &operator=(const PayloadReader &) = delete;

    /// As many as the machine runs at a time, four at most: more do not read faster from memory or disk.
    [[nodiscard]] static int default_threads() noexcept;

    /// Pieces are numbered from 0 on in the order they are added.
    void add(OpenPayload payload, MutableBytes to);
    /// Until piece `index` is read and every byte of it checked, or it or one before it has failed.
    [[nodiscard]] Status wait(std::size_t index);
    /// After wait() has failed: the piece that could not be read.
    [[nodiscard]] std::size_t failed_piece() const;
    [[nodiscard]] std::size_t pieces() const noexcept { return pieces_.size(); }

private:
    struct Piece {
        std::optional<OpenPayload> payload;  // until it is read
        MutableBytes to;
        std::size_t chunks;
        std::size_t taken = 0;
        std::size_t done = 0;
    };
    /// Reads one chunk, if there is one that nobody has taken. `lock` is let go meanwhile.
    bool read_one(std::unique_lock<std::mutex> &lock);
    void work();

    mutable std::mutex mutex_;  // guards all below but threads_
    std::condition_variable changed_;
    std::deque<Piece> pieces_;  // references stay good
    std::size_t next_ = 0;      // the first piece with chunks that nobody has taken
    bool stopping_ = false;
    std::optional<Error> error_;
    std::size_t failed_ = 0;  // the piece of error_

    std::vector<std::thread> threads_;
};

}  // namespace cairn
