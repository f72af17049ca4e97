#include "bench/seeded_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace cairn {
namespace {

constexpr std::array<std::string_view, 259> kWords{
    "the",        "of",      "and",     "to",       "in",        "that",     "was",        "for",      "with",
    "as",         "his",     "on",      "be",       "at",        "by",       "had",        "not",      "are",
    "but",        "from",    "or",      "have",     "an",        "they",     "which",      "one",      "you",
    "were",       "all",     "her",     "she",      "there",     "would",    "their",      "we",       "him",
    "been",       "has",     "when",    "who",      "will",      "no",       "more",       "if",       "out",
    "so",         "up",      "said",    "what",     "its",       "about",    "than",       "into",     "them",
    "can",        "only",    "other",   "time",     "new",       "some",     "could",      "these",    "two",
    "may",        "first",   "then",    "do",       "any",       "like",     "my",         "now",      "over",
    "such",       "our",     "man",     "me",       "even",      "most",     "made",       "after",    "also",
    "did",        "many",    "off",     "before",   "must",      "well",     "back",       "through",  "years",
    "where",      "much",    "your",    "way",      "down",      "should",   "because",    "long",     "each",
    "just",       "state",   "those",   "people",   "too",       "mister",   "how",        "little",   "good",
    "world",      "make",    "very",    "year",     "still",     "see",      "work",       "life",     "men",
    "day",        "both",    "between", "old",      "under",     "last",     "another",    "while",    "house",
    "never",      "place",   "same",    "right",    "might",     "came",     "great",      "went",     "however",
    "home",       "small",   "found",   "every",    "thought",   "against",  "part",       "general",  "high",
    "upon",       "school",  "public",  "water",    "number",    "night",    "point",      "hand",     "until",
    "always",     "away",    "fact",    "though",   "something", "less",     "put",        "head",     "think",
    "called",     "set",     "almost",  "enough",   "end",       "took",     "government", "yet",      "system",
    "better",     "four",    "nothing", "told",     "eyes",      "find",     "going",      "look",     "asked",
    "later",      "knew",    "next",    "city",     "group",     "give",     "days",       "young",    "let",
    "room",       "side",    "present", "several",  "order",     "means",    "winter",     "harbour",  "letter",
    "garden",     "engine",  "window",  "river",    "mountain",  "paper",    "station",    "silver",   "market",
    "bridge",     "captain", "morning", "village",  "doctor",    "summer",   "forest",     "island",   "question",
    "reason",     "moment",  "company", "family",   "story",     "answer",   "corner",     "table",    "evening",
    "field",      "ground",  "machine", "measure",  "northern",  "southern", "walked",     "opened",   "carried",
    "followed",   "counted", "painted", "waited",   "listened",  "repaired", "remembered", "promised", "gathered",
    "discovered", "crossed", "quiet",   "narrow",   "bright",    "distant",  "heavy",      "careful",  "sudden",
    "early",      "broken",  "empty",   "ordinary", "pleasant",  "curious",  "gentle"};

constexpr unsigned kShortestSentence = 6;
constexpr unsigned kLongestSentence = 14;

/// SplitMix64 (Steele, Lea, Flood 2014): the standard library's distributions differ between implementations.
class Random {
public:
    explicit Random(std::uint64_t state) : state_(state) {}
    std::uint64_t below(std::uint64_t limit) { return next() % limit; }

private:
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    std::uint64_t state_;
};

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

}  // namespace

std::string seeded_text(unsigned words, std::string_view name, std::uint64_t seed) {
    Random random(hash_of(name) ^ (seed * 0xd1342543de82ef95));
    std::string text;
    unsigned left_in_sentence = 0;
    for (unsigned i = 0; i < words; ++i) {
        const bool begins = left_in_sentence == 0;
        if (begins) left_in_sentence = kShortestSentence + random.below(kLongestSentence - kShortestSentence + 1);
        if (i > 0) text += ' ';
        const std::size_t at = text.size();
        text += kWords[random.below(kWords.size())];
        if (begins) text[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[at])));
        if (--left_in_sentence == 0 || i + 1 == words) text += '.';
    }
    return text;
}

std::string TextSource::text_of(const TextPlan &plan) const {
    std::string text;
    for (const TextPart &part : plan) {
        if (!text.empty()) text += "\n\n";
        if (part.words == 0) {
            text += part.literal;
            continue;
        }
        const auto words = static_cast<unsigned>(std::max(1L, std::lround(part.words * scale)));
        text += seeded_text(words, space + "/" + part.seed, seed);
    }
    return text;
}

}  // namespace cairn
