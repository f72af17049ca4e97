#include "policy/disk_admission.h"

#include <gtest/gtest.h>

#include <cctype>
#include <string>

namespace cairn {
namespace {

using Kind = CheckpointKind;
constexpr std::size_t kBytes = 300'000'000;
constexpr ReuseClass kEnd{.kind = Kind::answer_end};

DiskFacts settled(Kind kind = Kind::answer_end) {
    return {.who = {.kind = kind}, .idle_s = 10, .read_back = {.bytes = kBytes, .tokens_saved = 8000}};
}

/// A record that has seen `count` snapshots of which none was used.
ReuseRecord disappointed(ReuseClass who, int count = 500) {
    ReuseRecord record;
    for (int i = 0; i < count; ++i)
        record.offered(who, kBytes, 0);
    return record;
}

TEST(DiskAdmission, AFirstPromptThatPausesIsWritten) {
    DiskFacts facts = settled();
    facts.idle_s = 0;
    EXPECT_EQ(admit_to_disk(facts, {}, 0), DiskVerdict::wait);
    facts.idle_s = kSettleSeconds;
    EXPECT_EQ(admit_to_disk(facts, {}, 0), DiskVerdict::write);
}

TEST(DiskAdmission, AStateThatItsConversationHasPassedIsNotWritten) {
    for (Kind kind : {Kind::prompt_end, Kind::answer_end, Kind::last_user, Kind::last_user_end, Kind::interval}) {
        DiskFacts facts = settled(kind);
        facts.superseded = true;
        EXPECT_EQ(admit_to_disk(facts, {}, 0), DiskVerdict::superseded) << name_of(kind);
        facts.hits = 1;  // by the turn that passed it
        EXPECT_EQ(admit_to_disk(facts, {}, 0), DiskVerdict::superseded) << name_of(kind);
        facts.hits = 2;  // somebody came back to it
        EXPECT_EQ(admit_to_disk(facts, {}, 0), DiskVerdict::write) << name_of(kind);
    }
    for (Kind kind : {Kind::system_end, Kind::fork}) {
        DiskFacts facts = settled(kind);
        facts.superseded = true;
        EXPECT_EQ(admit_to_disk(facts, {}, 0), DiskVerdict::write) << name_of(kind);
    }
}

TEST(DiskAdmission, WhatIsUsedWithoutAPauseIsWrittenAllTheSame) {
    DiskFacts opening = settled(Kind::system_end);
    opening.idle_s = 0.1;
    EXPECT_EQ(admit_to_disk(opening, {}, 0), DiskVerdict::wait);
    opening.hits = 1;
    EXPECT_EQ(admit_to_disk(opening, {}, 0), DiskVerdict::write);
    DiskFacts end = settled();
    end.idle_s = 0.1;
    end.hits = 1;  // the next turn runs now, and its end is what will be written
    EXPECT_EQ(admit_to_disk(end, {}, 0), DiskVerdict::wait);
    end.hits = 2;
    EXPECT_EQ(admit_to_disk(end, {}, 0), DiskVerdict::write);
}

TEST(DiskAdmission, WhatWasHitOrAskedForIsWrittenWhateverTheRecordSays) {
    const ReuseRecord record = disappointed(kEnd);
    DiskFacts facts = settled();
    EXPECT_EQ(admit_to_disk(facts, record, 0), DiskVerdict::seldom_reused);
    facts.hits = 1;
    EXPECT_EQ(admit_to_disk(facts, record, 0), DiskVerdict::write);
    facts.hits = 0;
    facts.wanted = true;
    facts.idle_s = 0;
    facts.superseded = true;
    EXPECT_EQ(admit_to_disk(facts, record, 0), DiskVerdict::write);
}

TEST(DiskAdmission, WhatIsSlowerToReadThanToComputeIsNotWritten) {
    DiskFacts facts = settled();
    facts.hits = 5;
    facts.read_back.bytes_per_s = 1e6;
    facts.read_back.seconds_per_token = 1e-4;
    EXPECT_EQ(admit_to_disk(facts, {}, 0), DiskVerdict::slower_than_computing);
    facts.read_back.bytes_per_s = 1e9;
    EXPECT_EQ(admit_to_disk(facts, {}, 0), DiskVerdict::write);
    facts.read_back.bytes_per_s = 1e6;
    facts.wanted = true;
    EXPECT_EQ(admit_to_disk(facts, {}, 0), DiskVerdict::write);
}

TEST(DiskAdmission, AStreamOfPromptsThatNeverComeBackStopsAfter64Writes) {
    ReuseRecord record;
    int written = 0;
    for (int i = 0; i < 20'000; ++i) {
        const double now_s = i;  // for five hours and a half
        const DiskVerdict verdict = admit_to_disk(settled(), record, now_s);
        record.offered(kEnd, kBytes, now_s);
        if (verdict == DiskVerdict::write) ++written;
    }
    EXPECT_NEAR(written, 64, 2);
}

TEST(DiskAdmission, OneUsedInFiveIsWrittenForEver) {
    ReuseRecord record;
    for (int i = 0; i < 5000; ++i) {
        EXPECT_EQ(admit_to_disk(settled(), record, i), DiskVerdict::write) << i;
        record.offered(kEnd, kBytes, i);
        if (i % 5 == 4) record.used(kEnd, kBytes, i);
    }
    EXPECT_NEAR(record.useful_share(kEnd, 5000), 0.2, 0.05);
}

TEST(DiskAdmission, BytesCountNotSnapshots) {
    ReuseRecord record;  // small ones come back, large ones do not
    for (int i = 0; i < 1000; ++i) {
        record.offered(kEnd, i % 2 == 0 ? 1000 : 100'000, 0);
        if (i % 2 == 0) record.used(kEnd, 1000, 0);
    }
    EXPECT_LT(record.useful_share(kEnd, 0), 1 / kMaxWriteRatio);
}

TEST(DiskAdmission, AConversationThatGoesOnIsNotJudgedByPromptsThatNeverComeBack) {
    const ReuseRecord record = disappointed(kEnd);
    DiskFacts facts = settled();
    facts.who.continued = true;
    EXPECT_EQ(admit_to_disk(facts, record, 0), DiskVerdict::write);
    EXPECT_EQ(admit_to_disk(settled(Kind::prompt_end), record, 0), DiskVerdict::write);
}

TEST(DiskAdmission, ADisappointedRecordRecoversByUseAndByTime) {
    ReuseRecord by_use = disappointed(kEnd);
    for (int i = 0; i < 40; ++i) {  // refused, and come back to in RAM
        by_use.offered(kEnd, kBytes, 0);
        by_use.used(kEnd, kBytes, 0);
    }
    EXPECT_EQ(admit_to_disk(settled(), by_use, 0), DiskVerdict::write);
    const ReuseRecord by_time = disappointed(kEnd);
    EXPECT_EQ(admit_to_disk(settled(), by_time, 3600), DiskVerdict::seldom_reused);
    EXPECT_EQ(admit_to_disk(settled(), by_time, 24 * 3600), DiskVerdict::write);
    EXPECT_EQ(by_time.useful_share(kEnd, 1e9), 1);
}

TEST(ReuseRecord, SurvivesARestart) {
    ReuseRecord record = disappointed(kEnd, 100);
    record.offered({.kind = Kind::fork, .continued = true}, 77, 1000);
    record.used({.kind = Kind::fork, .continued = true}, 50, 1000);
    const std::string text = record.to_text(2000);
    for (char c : text)
        EXPECT_TRUE(std::isprint(static_cast<unsigned char>(c)) != 0 && c != '"') << text;
    const ReuseRecord again = ReuseRecord::parse(text, 5);  // another clock: nothing fades while nothing runs
    for (Kind kind : {Kind::answer_end, Kind::fork, Kind::system_end}) {
        for (bool continued : {false, true}) {
            const ReuseClass who{.kind = kind, .continued = continued};
            EXPECT_NEAR(again.useful_share(who, 5), record.useful_share(who, 2000), 1e-6);
        }
    }
    EXPECT_EQ(again.to_text(5), text);
}

TEST(ReuseRecord, DamagedTextMakesAFreshRecord) {
    const std::string good = disappointed(kEnd, 100).to_text(0);
    const std::string fresh = ReuseRecord{}.to_text(0);
    ASSERT_NE(ReuseRecord::parse(good, 0).to_text(0), fresh);
    const std::string version = good.substr(0, 6);
    std::string many = version;
    for (int i = 0; i < 42; ++i)
        many += " 1e300";
    for (const std::string &bad :
         {std::string{}, std::string{"reuse1"}, "reuse2" + good.substr(6), good.substr(0, good.size() - 2), good + " 1",
          good + "x", version + " -1" + good.substr(8), version + " nan" + good.substr(8),
          version + " inf" + good.substr(8), many, std::string(500, ' ')}) {
        EXPECT_EQ(ReuseRecord::parse(bad, 0).to_text(0), fresh) << bad;
    }
}

}  // namespace
}  // namespace cairn
