#include "store/disk_tier.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "env/thread_priority.h"

namespace cairn {
namespace {

/// File systems give out space in blocks of this.
constexpr std::size_t kBlock = 4096;

}  // namespace

DiskFile::DiskFile(DiskTier &tier, const StoredPayload &facts, Reservation space)
    : tier_(tier), facts_(facts), space_(std::move(space)) {}

DiskFile::~DiskFile() {
    tier_.give_up(*this);
}

DiskTier::DiskTier(CacheDirectory directory, DiskLimits limits, Env &env, Metrics &metrics)
    : directory_(std::move(directory)),
      limits_(limits),
      env_(env),
      metrics_(metrics),
      space_("bytes on disk", limits.bytes),
      content_(std::move(directory_.content)),
      last_id_(content_.last_id),
      thread_([this] { work(); }) {
    metrics_.set(Metric::disk_budget_bytes, static_cast<double>(limits.bytes));
}

DiskTier::~DiskTier() {
    settle();
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

std::size_t DiskTier::footprint(std::size_t file_bytes) noexcept {
    const auto rounded = checked_align_up(file_bytes, kBlock);
    return rounded.value_or(file_bytes);
}

// -- the engine's side ---------------------------------------------------------------------------------------------

void DiskTier::write(WriteOrder order) {
    CAIRN_CHECK(!writing_, "a second order is given before the first is done");
    flush();  // removals first: their space is this order's
    writing_ = true;
    queue([this, order = std::move(order)] {
        const double start = env_.now_s();
        WriteOutcome outcome{carry_out(order.entry, [&] { return write_files(order); })};
        outcome.seconds = env_.now_s() - start;
        for (const StoredPayload &payload : order.entry.payloads)
            outcome.bytes += static_cast<std::size_t>(payload.file_bytes);
        const std::lock_guard lock(mutex_);
        outcome_ = std::move(outcome);
    });
}

std::optional<WriteOutcome> DiskTier::poll() {
    if (!writing_) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (!outcome_) return std::nullopt;
    writing_ = false;
    return std::exchange(outcome_, std::nullopt);
}

std::optional<WriteOutcome> DiskTier::wait() {
    if (!writing_) return std::nullopt;
    help_until([this] { return outcome_.has_value(); });
    return poll();
}

void DiskTier::set_fact(std::string name, std::string value) {
    queue([this, name = std::move(name), value = std::move(value)] {
        if (auto done = directory_.catalogue.set_fact(name, value); !done) count_failure("catalogue", done.error());
    });
}

std::string DiskTier::fact(const std::string &name) {
    std::string value;
    bool done = false;
    queue([&] {
        value = directory_.catalogue.fact(name).value_or("");
        const std::lock_guard lock(mutex_);
        done = true;
    });
    help_until([&] { return done; });
    return value;
}

Status DiskTier::take_in(const CatalogueEntry &entry, std::function<Status(const CacheDirectory &)> write) {
    flush();
    std::optional<Status> outcome;
    queue([this, &entry, &write, &outcome] {
        Status done = carry_out(entry, [&] { return write(directory_); });
        const std::lock_guard lock(mutex_);
        outcome = std::move(done);
    });
    help_until([&outcome] { return outcome.has_value(); });
    return std::move(*outcome);
}

void DiskTier::flush() {
    if (!removed_snapshots_.empty() || !removed_payloads_.empty()) {
        queue([this, removal = Removal{std::exchange(removed_snapshots_, {}), std::exchange(removed_payloads_, {})}] {
            carry_out(removal);
        });
    }
    if (!uses_.empty()) {
        queue([this, uses = std::exchange(uses_, {})] {
            if (auto done = directory_.catalogue.note_uses(uses); !done) count_failure("catalogue", done.error());
        });
    }
    metrics_.set(Metric::disk_bytes, static_cast<double>(space_.used()));
}

void DiskTier::settle() {
    flush();
    queue([this] {
        if (auto done = directory_.catalogue.tidy(); !done) count_failure("catalogue", done.error());
    });
    help_until([this] { return jobs_.empty() && !busy_; });
}

Result<OpenPayload> DiskTier::open(const DiskFile &file) const {
    return open_payload_file(directory_.files(), directory_.path_of(file.id()));
}

// -- the writer's side ---------------------------------------------------------------------------------------------

void DiskTier::queue(Job job) {
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
}

void DiskTier::work() {
    if (limits_.yields) yield_to_others();
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return (stopping_ || !jobs_.empty()) && !busy_; });
        if (jobs_.empty()) return;
        work_off(lock);
    }
}

/// Does the first job, without the lock meanwhile. Nobody else is at one, or their order would not hold.
void DiskTier::work_off(std::unique_lock<std::mutex> &lock) {
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    job();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
}

template <class Done>
void DiskTier::help_until(Done done) {
    std::unique_lock lock(mutex_);
    while (!done()) {
        if (!busy_ && !jobs_.empty()) {
            work_off(lock);
        } else {
            changed_.wait(lock);
        }
    }
}

Status DiskTier::carry_out(const CatalogueEntry &entry, const std::function<Status()> &write) {
    if (auto room = check_free_space(entry); !room) return room;
    Status done = write();
    if (done) done = directory_.catalogue.put(entry);
    if (done) return done;
    // Nothing names these files: what cannot be removed now is swept at the next opening.
    for (const StoredPayload &payload : entry.payloads)
        (void)directory_.files().remove(directory_.path_of(payload.id));
    return done;
}

Status DiskTier::check_free_space(const CatalogueEntry &entry) {
    std::uint64_t needed = limits_.free_space_bytes;
    for (const StoredPayload &payload : entry.payloads)
        needed += payload.file_bytes;
    const auto space = directory_.files().space(directory_.path());
    if (!space) return fail(space.error());
    if (space->available >= needed) return {};
    return fail(ErrorCode::capacity, "The file system of {} has {} bytes free, and {} of them are left to others.",
                directory_.path(), space->available, limits_.free_space_bytes);
}

Status DiskTier::write_files(const WriteOrder &order) {
    for (const WriteOrder::Piece &piece : order.pieces) {
        if (auto made = directory_.make_folder_of(piece.header.id); !made) return made;
        auto written =
            write_payload_file(directory_.files(), directory_.path_of(piece.header.id), piece.header, piece.bytes);
        if (!written) return written;
    }
    return {};
}

void DiskTier::carry_out(const Removal &removal) {
    // The row first: a file without a row is swept at the next opening, a row without a file would be a lost snapshot.
    if (auto done = directory_.catalogue.remove(removal.snapshots, removal.payloads); !done) {
        count_failure("catalogue", done.error());
    }
    for (const std::uint64_t payload : removal.payloads) {
        if (auto done = directory_.files().remove(directory_.path_of(payload)); !done) {
            count_failure("remove", done.error());
        }
    }
}

void DiskTier::count_failure(const char *what, const Error &error) {
    metrics_.add(Metric::disk_failures_total, 1, std::string(what) + "_" + name_of(error.code));
}

}  // namespace cairn
