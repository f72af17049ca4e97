// StoreBench: a SnapshotStore on a simulated backend, with the simplest possible advisor: values are recency, and who
// shares which prefix is found by comparing tokens.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "sim/sim_backend.h"
#include "store/snapshot_store.h"
#include "tests/support/manual_env.h"

namespace cairn {

class StoreBench : public SnapshotAdvisor {
public:
    explicit StoreBench(SimFamily family,
                        StoreBudgets budgets = {.max_snapshots = 100, .ram_bytes = 1_MiB, .device = kRoomy})
        : StoreBench(SimConfig{.family = family}, budgets) {}
    StoreBench(SimConfig sim, StoreBudgets budgets) : config(std::move(sim)) {
        config.control = control;
        backend = std::move(*open_sim_backend(config));
        store = std::make_unique<SnapshotStore>(*backend, budgets, nullptr, *this, env, metrics);
    }
    ~StoreBench() override { store.reset(); }  // it asks its advisor until it is gone

    static constexpr DeviceLimits kRoomy{.bytes = 64_MiB, .cells = 1 << 20, .parked = 32};

    /// Tokens of one conversation: different for different seeds from the first token on.
    static Tokens text(TokenPos count, Token seed = 1) {
        Tokens tokens(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < tokens.size(); ++i)
            tokens[i] = static_cast<Token>((i * 7 + static_cast<std::size_t>(seed) * 13) % 250);
        return tokens;
    }
    static Tokens joined(Tokens a, const Tokens &b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
    }

    /// Computes `tokens` into `seq`, which is emptied first.
    void compute(const Tokens &tokens, SeqId seq = SeqId(0)) {
        backend->clear(seq);
        extend(tokens, seq);
    }
    void extend(const Tokens &tokens, SeqId seq = SeqId(0)) {
        Batch batch;
        const TokenPos begin = backend->length(seq);
        for (std::size_t i = 0; i < tokens.size(); ++i)
            batch.push_back({tokens[i], begin + static_cast<TokenPos>(i), seq, false});
        for (std::size_t at = 0; at < batch.size(); at += 512) {
            const Batch part(batch.begin() + static_cast<std::ptrdiff_t>(at),
                             batch.begin() + static_cast<std::ptrdiff_t>(std::min(batch.size(), at + 512)));
            ASSERT_TRUE(backend->run(part).has_value());
        }
    }
    /// The state in `seq` gives the logits that computing `tokens` from the start gives.
    void expect_holds(SeqId seq, const Tokens &tokens) {
        ASSERT_EQ(backend->length(seq), static_cast<TokenPos>(tokens.size()));
        ASSERT_TRUE(backend->run({{Token{3}, static_cast<TokenPos>(tokens.size()), seq, true}}).has_value());
        const auto warm = backend->logits(0);
        const auto cold = sim_logits(config, joined(tokens, {3}));
        ASSERT_TRUE(std::equal(warm.begin(), warm.end(), cold.begin(), cold.end()));
    }

    enum class Where { device, ram };
    /// Computes and keeps a snapshot of `tokens`.
    Result<SnapshotPtr> keep(const Tokens &tokens, Where where) {
        env.advance(1);
        compute(tokens);
        auto snapshot = store->open(static_cast<TokenPos>(tokens.size()), CheckpointKind::prompt_end);
        if (!snapshot) return snapshot;
        const Status put = where == Where::device ? store->park(**snapshot, SeqId(0))
                                                  : store->capture(**snapshot, SeqId(0), tokens, known_rows(tokens));
        if (!put) return fail(put.error());
        known.push_back({tokens, *snapshot});
        store->track(*snapshot);
        return snapshot;
    }
    SnapshotPtr must_keep(const Tokens &tokens, Where where) {
        auto snapshot = keep(tokens, where);
        EXPECT_TRUE(snapshot.has_value()) << snapshot.error().what;
        store->check_invariants();
        return snapshot ? *snapshot : nullptr;
    }
    /// Restores `length` tokens into sequence 1 (all of them by default) and compares.
    void expect_restores(const SnapshotPtr &snapshot, const Tokens &tokens, Tier tier) {
        backend->clear(SeqId(1));
        const auto from = store->restore(SnapshotLease(snapshot, static_cast<TokenPos>(tokens.size())), SeqId(1));
        ASSERT_TRUE(from.has_value()) << from.error().what;
        EXPECT_EQ(*from, tier);
        expect_holds(SeqId(1), tokens);
        store->check_invariants();
    }
    void expect_nothing_left() {
        store->clear();
        store->check_invariants();
        EXPECT_EQ(store->live().size(), 0u);
        EXPECT_EQ(store->ram_bytes(), 0u);
        EXPECT_EQ(store->device_bytes(), 0u);
        EXPECT_EQ(store->device_snapshots(), 0u);
        EXPECT_EQ(backend->cells_only_parked(), 0);
    }

    [[nodiscard]] RowsRef known_rows(const Tokens &tokens) const {
        RowsRef best;
        for (const auto &[path, snapshot] : known) {
            if (snapshot->rows().segment == nullptr || snapshot->rows().suspect()) continue;
            const auto differ = std::mismatch(path.begin(), path.end(), tokens.begin(), tokens.end()).first;
            const auto common = static_cast<TokenPos>(differ - path.begin());
            if (common > best.end) best = snapshot->rows().cut(common);
        }
        return best;
    }

    // SnapshotAdvisor
    double value(const Snapshot &snapshot, Tier, std::size_t) const override { return snapshot.last_use_s(); }
    SnapshotOrigin origin_of(const Snapshot &snapshot) const override {
        for (const auto &[path, other] : known) {
            if (other.get() == &snapshot) return {{backend->layout().fingerprint, ""}, path};
        }
        return {};
    }
    bool worth_writing(const Snapshot &, std::size_t, bool) override { return true; }
    void note_written(const Snapshot &, std::size_t, double) override {}
    void note_read(std::size_t, double) override {}
    RowsRef rows_for(const Snapshot &snapshot) const override {
        for (const auto &[path, other] : known) {
            if (other.get() == &snapshot) return known_rows(path);
        }
        return {};
    }
    void forget(const Snapshot &) override { ++forgotten; }

    struct Known {
        Tokens tokens;
        SnapshotPtr snapshot;
    };
    SimConfig config;
    std::shared_ptr<SimControl> control = std::make_shared<SimControl>();
    ManualEnv env;
    Metrics metrics;
    std::unique_ptr<Backend> backend;
    std::vector<Known> known;
    int forgotten = 0;
    std::unique_ptr<SnapshotStore> store;
};

}  // namespace cairn
