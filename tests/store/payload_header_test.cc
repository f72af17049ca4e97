#include "store/payload_header.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/store/payload_example.h"

namespace cairn {
namespace {

const NamespaceKey kNs = test::example_namespace();
const Tokens kPrompt{1, 2, 3, 4, 5, 6, 7, 8};

PayloadHeader rows(TokenSpan span = {2, 6}) {
    return describe_payload(PayloadKind::rows, 7, kNs, kPrompt, span);
}
PayloadHeader boundary(TokenPos position = 6) {
    return describe_payload(PayloadKind::boundary, 7, kNs, kPrompt, {position, position});
}
PayloadOrigin origin_of(const PayloadHeader &header) {
    return {.kind = header.kind, .id = header.id, .span = header.span, .ns = &kNs};
}

void expect_refused(const Status &checked, const std::string &why) {
    ASSERT_FALSE(checked.has_value()) << why;
    EXPECT_EQ(checked.error().code, ErrorCode::corrupt) << why;
    EXPECT_NE(checked.error().what.find(why), std::string::npos) << checked.error().what;
}

TEST(PayloadHeader, DescribesRowsByTheirTokensAndAHashOfThoseBefore) {
    const PayloadHeader header = rows();
    EXPECT_EQ(header.tokens, (Tokens{3, 4, 5, 6}));
    EXPECT_EQ(header.prefix, hash_of_prefix(Tokens{1, 2}));
    EXPECT_EQ(header.tenant, hash_of_text("tenant-a"));
    EXPECT_EQ(header.model, kNs.model);
}

TEST(PayloadHeader, DescribesABoundaryByAHashOfAllTokensBefore) {
    const PayloadHeader header = boundary();
    EXPECT_TRUE(header.tokens.empty());
    EXPECT_EQ(header.prefix, hash_of_prefix(Tokens{1, 2, 3, 4, 5, 6}));
}

TEST(PayloadOrigin, IsAcceptedForEveryPromptThatGoesOnFromWhatIsUsed) {
    EXPECT_TRUE(check_origin(rows(), origin_of(rows()), kPrompt, 6).has_value());
    EXPECT_TRUE(check_origin(rows({0, 8}), origin_of(rows({0, 8})), kPrompt, 8).has_value());
    EXPECT_TRUE(check_origin(rows(), origin_of(rows()), Tokens{1, 2, 3, 4, 5, 6, 99}, 6).has_value());
    EXPECT_TRUE(check_origin(rows(), origin_of(rows()), Tokens{1, 2, 3, 4, 99, 99}, 4).has_value());
    EXPECT_TRUE(check_origin(rows(), origin_of(rows()), Tokens{1, 2, 3}, 3).has_value());
    EXPECT_TRUE(check_origin(boundary(), origin_of(boundary()), kPrompt, 6).has_value());
    EXPECT_TRUE(check_origin(boundary(), origin_of(boundary()), Tokens{1, 2, 3, 4, 5, 6}, 6).has_value());
}

TEST(PayloadOrigin, OfAnotherKindIdSpanModelOrTenantIsRefused) {
    PayloadOrigin expected = origin_of(rows());
    expected.kind = PayloadKind::boundary;
    expect_refused(check_origin(rows(), expected, kPrompt, 6), "another kind");
    expected = origin_of(rows());
    expected.id = 8;
    expect_refused(check_origin(rows(), expected, kPrompt, 6), "another id");
    for (const TokenSpan span : {TokenSpan{2, 5}, TokenSpan{2, 7}, TokenSpan{1, 6}, TokenSpan{3, 6}}) {
        expected = origin_of(rows());
        expected.span = span;
        expect_refused(check_origin(rows(), expected, kPrompt, 5), "another span");
    }
    NamespaceKey other = kNs;
    other.model.bytes[15] ^= 1;
    expected = origin_of(rows());
    expected.ns = &other;
    expect_refused(check_origin(rows(), expected, kPrompt, 6), "another model");
    other = {kNs.model, "tenant-b"};
    expect_refused(check_origin(rows(), expected, kPrompt, 6), "another tenant");
}

TEST(PayloadOrigin, OfOtherTokensIsRefusedWhereverTheyDiffer) {
    for (std::size_t i = 0; i < 6; ++i) {
        Tokens prompt = kPrompt;
        prompt[i] = 99;
        const char *why = i < 2 ? "other tokens lie before it" : "it is of other tokens";
        expect_refused(check_origin(rows(), origin_of(rows()), prompt, 6), why);
        expect_refused(check_origin(boundary(), origin_of(boundary()), prompt, 6), "other tokens lie before it");
    }
}

TEST(PayloadOrigin, ThatWouldBeUsedBeyondItsEndOrThePromptsIsRefused) {
    for (const TokenPos use_end : {-1, 0, 1, 2, 7, 8, 9})
        expect_refused(check_origin(rows(), origin_of(rows()), kPrompt, use_end), "ends elsewhere");
    expect_refused(check_origin(rows(), origin_of(rows()), Tokens{1, 2, 3}, 4), "ends elsewhere");
    expect_refused(check_origin(rows(), origin_of(rows()), Tokens{}, 4), "ends elsewhere");
    for (const TokenPos use_end : {0, 5, 7})
        expect_refused(check_origin(boundary(), origin_of(boundary()), kPrompt, use_end), "ends elsewhere");
    expect_refused(check_origin(boundary(), origin_of(boundary()), Tokens{1, 2, 3, 4, 5}, 6), "ends elsewhere");
}

// Both sides agree, so only the contradiction is left to find.
TEST(PayloadOrigin, OfAHeaderThatContradictsItselfIsRefused) {
    const std::vector<std::pair<const char *, std::function<void(PayloadHeader &)>>> wrong{
        {"span cannot be",
         [](PayloadHeader &h) {
             h.span = {-4, 0};
         }},
        {"span cannot be",
         [](PayloadHeader &h) {
             h.span = {6, 2};
         }},
        {"covers nothing",
         [](PayloadHeader &h) {
             h.span = {2, 2};
         }},
        {"covers a span", [](PayloadHeader &h) { h.kind = PayloadKind::boundary; }},
        {"tokens are not those", [](PayloadHeader &h) { h.tokens.pop_back(); }},
        {"tokens are not those", [](PayloadHeader &h) { h.tokens.push_back(7); }},
    };
    for (const auto &[why, change] : wrong) {
        PayloadHeader header = rows();
        change(header);
        expect_refused(check_origin(header, origin_of(header), kPrompt, 6), why);
    }
}

TEST(PayloadHeader, RoundTripsThroughItsBytes) {
    for (PayloadHeader header : {rows(), boundary(), rows({0, 1}), boundary(1)}) {
        header.bytes = 2_MiB + 1;
        const PayloadHead head{.header = header, .checksums = {1, ~0ull, 3}};
        const auto bytes = encode_payload_head(head);
        EXPECT_EQ(bytes.size(), 4096u);
        const auto decoded = decode_payload_head(bytes, "x");
        ASSERT_TRUE(decoded.has_value()) << decoded.error().what;
        EXPECT_EQ(*decoded, head);
    }
}

}  // namespace
}  // namespace cairn
