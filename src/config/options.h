// THE options table: every flag and every key of a configuration file, once (options.cc has the rows).
//
// From it come the JSON loader (load.cc), the flags of the command line (cli.cc) and docs/configuration.md
// (options_docs.cc). A new option is one row; its default is the initialiser of the member it names.
//
// Thread rule: constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cairn/config.h"

namespace cairn {

struct Config;

enum class OptionGroup : std::uint8_t { model, engine, server };

template <class T>
using MemberOf = T &(*)(Config &);

/// The member a row sets. Its type is the option's kind; std::optional means that absence has a meaning of its own.
/// A size (std::size_t) is a number of bytes in a file and a SIZE (size.h) as a flag.
using OptionMember =
    std::variant<MemberOf<std::string>, MemberOf<std::optional<std::string>>, MemberOf<bool>,
                 MemberOf<std::optional<bool>>, MemberOf<std::int32_t>, MemberOf<std::optional<std::int32_t>>,
                 MemberOf<std::uint16_t>, MemberOf<std::size_t>, MemberOf<std::optional<std::size_t>>,
                 MemberOf<std::optional<double>>, MemberOf<KvType>, MemberOf<std::vector<AdapterConfig>>>;

/// Inclusive. The type of the member bounds an option too.
struct OptionBounds {
    double min = 0;
    double max = std::numeric_limits<double>::infinity();
};

/// A text that stands for a number, in flags and files.
struct OptionWord {
    const char *text;
    std::int32_t value;
};

struct Option {
    OptionGroup group = OptionGroup::model;
    const char *flags = "";  ///< spellings as users type them, separated by commas; empty: no flag
    const char *key = "";    ///< path in a file, separated by dots; empty: a flag only
    OptionMember member;
    const char *value_name = "";  ///< what a flag is followed by; empty: nothing (it sets `flag_value`)
    const char *help = "";        ///< whole sentences
    OptionBounds bounds{};
    bool flag_value = true;
    std::span<const OptionWord> words{};
};

/// A part of a file that holds keys. Naming it there calls `enter`: for a section whose absence has a meaning.
struct OptionSection {
    const char *key;
    const char *help;
    void (*enter)(Config &);
};

[[nodiscard]] std::span<const Option> options() noexcept;
[[nodiscard]] std::span<const OptionSection> option_sections() noexcept;
/// How errors name an option: "--port (key server.port)".
[[nodiscard]] std::string spelling_of(const Option &option);
/// The spellings of an option's flag, one each: {"-ngl", "--gpu-layers", "--n-gpu-layers"}.
[[nodiscard]] std::vector<std::string> flag_spellings(const Option &option);

}  // namespace cairn
