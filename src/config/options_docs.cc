#include "config/options_docs.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/config.h"
#include "config/option_value.h"
#include "config/options.h"

namespace cairn {

namespace {

constexpr const char *kIntroduction = R"(# Configuration

Written by `tools/gen-docs` from the table in `src/config/options.cc`; change it there.

Options come from flags, from a JSON file (`--config FILE`, comments allowed), or from their defaults, in this order of
strength. The environment is not read. A file that has an unknown key, a value of the wrong type or a value out of
bounds is refused as a whole, with an error that names the key.

```json
{
    "model": {"path": "models/demo.gguf", "context": 8192},
    "engine": {"dynamic_batching": {"snapshot_ram_bytes": 1073741824}},
    "server": {"port": 8080}
}
```

A SIZE is a whole number with K, M or G behind it (powers of 1024, either case); a plain number is MiB, and 0 is off.
In a file sizes are plain numbers of bytes. Flags have llama-server's names and meaning where it has them.
)";

constexpr const char *kCacheRules = R"(
## What is cached by default

The library's defaults (`SnapshotPolicy`), first match wins:

| configuration | result |
| --- | --- |
| no section `engine.dynamic_batching` | one request at a time, no cache |
| `prefix_caching` false | no cache |
| `prefix_caching` unset, model with a sliding window (a drafter with one does not count) | no cache |
| `max_snapshots` 0 | no cache |
| none of `snapshot_device_bytes`, `snapshot_ram_bytes`, `snapshot_disk_bytes` given | one device-resident snapshot |
| at least one of them given, all zero or unset | no cache |
| at least one of them above zero | on; a budget that is not given is 0; `max_snapshots` limits the count on top |

`snapshot_disk_path` and `max_snapshots` alone give no budget.

`cairn serve` fills in what is unset, each key on its own, so a flag or a file wins: `prefix_caching` true (also for
models with a sliding window), `snapshot_ram_bytes` a quarter of the machine's memory and at least 256 MiB,
`snapshot_device_bytes` a sixteenth of the device's memory and at least 64 MiB.
)";

/// Options of a file's section: those whose key is the section's and one more part.
bool belongs_to(const Option &option, std::string_view section) {
    const std::string_view key = option.key;
    const auto dot = key.rfind('.');
    return dot != std::string_view::npos && key.substr(0, dot) == section;
}

std::string flags_cell(const Option &option) {
    std::string cell;
    for (const auto &flag : flag_spellings(option)) {
        if (!cell.empty()) cell += ", ";
        cell += fmt::format("`{}`", flag);
    }
    if (!cell.empty() && *option.value_name != '\0') cell += fmt::format(" {}", option.value_name);
    return cell;
}

std::string row_of_key(const Option &option) {
    const std::string_view key = option.key;
    return fmt::format("| `{}` | {} | {} | {} | {} |\n", key.substr(key.rfind('.') + 1), flags_cell(option),
                       wanted_value(option), shown_value(option, Config{}), option.help);
}

std::string section_text(const OptionSection &section) {
    const auto all = options();
    if (std::none_of(all.begin(), all.end(), [&](const Option &o) { return belongs_to(o, section.key); })) return {};
    std::string text = fmt::format(
        "\n## {}\n\n{} Keys of `{}` in a file:\n\n"
        "| key | flag | takes | default | meaning |\n| --- | --- | --- | --- | --- |\n",
        section.key, section.help, section.key);
    for (const auto &option : all) {
        if (belongs_to(option, section.key)) text += row_of_key(option);
    }
    return text;
}

std::string flags_without_key() {
    std::string text = "\n## Flags without a key\n\n| flag | meaning |\n| --- | --- |\n";
    text += "| `--config` FILE | A JSON file with options; flags override it. |\n";
    for (const auto &option : options()) {
        if (*option.key == '\0') text += fmt::format("| {} | {} |\n", flags_cell(option), option.help);
    }
    return text;
}

}  // namespace

std::string options_markdown() {
    std::string text = kIntroduction;
    for (const auto &section : option_sections())
        text += section_text(section);
    return text + flags_without_key() + kCacheRules;
}

}  // namespace cairn
