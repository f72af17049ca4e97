#include "sim/sim_state.h"

#include <xxhash.h>

#include <utility>

#include "base/check.h"

namespace cairn {
namespace {

// The finalizer of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
std::uint64_t scramble(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

template <class... Numbers>
std::uint64_t mix(std::uint64_t first, Numbers... rest) {
    std::uint64_t value = scramble(first);
    ((value = scramble(value ^ (static_cast<std::uint64_t>(rest) * 0xff51afd7ed558ccdu))), ...);
    return value;
}

}  // namespace

SimModel::SimModel(const SimConfig &config)
    : family(config.family),
      seed(XXH3_64bits(config.weights.data(), config.weights.size())),
      vocabulary(config.vocabulary),
      window(config.window) {}

void SimState::advance(Token token) {
    std::uint64_t before = boundary_.carried;
    for (const std::uint64_t seen : boundary_.window)
        before = mix(before, seen);
    const std::uint64_t trace = mix(model_.seed, token, length_, attended_, before);
    if (model_.has_carry()) boundary_.carried = mix(trace, 1);
    if (model_.has_window()) {
        auto &window = boundary_.window;
        if (std::cmp_equal(window.size(), model_.window)) window.erase(window.begin());
        window.push_back(mix(trace, 2));
    }
    if (model_.has_rows()) append_row(mix(trace, 3));
    ++length_;
}

void SimState::append_row(std::uint64_t row) {
    if (rows_ % kChunk == 0) {
        chunks_.push_back(std::make_shared<Chunk>());
        chunks_.back()->reserve(kChunk);
    } else if (chunks_.back().use_count() > 1) {
        const Chunk &shared = *chunks_.back();
        chunks_.back() = std::make_shared<Chunk>(shared);
    }
    chunks_.back()->push_back(row);
    attended_ += mix(row, rows_);  // a sum: it can be taken over any set of rows in any order
    ++rows_;
}

std::uint64_t SimState::row(TokenPos pos) const {
    const auto index = static_cast<std::size_t>(pos);
    CAIRN_CHECK(pos >= 0 && index < rows_, "row {} of {}", pos, rows_);
    return (*chunks_[index / kChunk])[index % kChunk];
}

void SimState::cut(TokenPos length) {
    CAIRN_CHECK(length >= 0 && length <= length_, "cut {} tokens to {}", length_, length);
    SimState shorter(model_);
    if (model_.has_rows()) {
        for (TokenPos pos = 0; pos < length; ++pos)
            shorter.append_row(row(pos));
    }
    shorter.boundary_ = std::move(boundary_);
    shorter.length_ = length;
    *this = std::move(shorter);
}

void SimState::set_boundary(SimBoundary boundary, TokenPos length) {
    CAIRN_CHECK(!model_.has_rows() || std::cmp_equal(rows_, length), "{} rows for {} tokens", rows_, length);
    boundary_ = std::move(boundary);
    length_ = length;
}

std::uint64_t SimState::digest() const {
    std::uint64_t value = mix(model_.seed, length_, attended_, boundary_.carried);
    for (const std::uint64_t seen : boundary_.window)
        value = mix(value, seen);
    return value;
}

std::vector<float> SimState::logits() const {
    const std::uint64_t seed = digest();
    std::vector<float> logits(static_cast<std::size_t>(model_.vocabulary));
    for (std::size_t token = 0; token < logits.size(); ++token) {
        const auto bits = static_cast<std::uint32_t>(scramble(seed + token) >> 40);  // 24 bits: exact in a float
        logits[token] = static_cast<float>(bits) / 1048576.0f - 8.0f;
    }
    return logits;
}

}  // namespace cairn
