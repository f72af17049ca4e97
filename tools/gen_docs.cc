// gen_docs PAGE: prints a page of docs/ that is made from one of the tables. tools/gen-docs builds and runs it.
#include <cstdio>
#include <string_view>

#include "config/options_docs.h"
#include "metrics/metrics_table.h"

int main(int argc, char **argv) {
    const std::string_view page = argc == 2 ? argv[1] : "";
    std::string text;
    if (page == "configuration.md") text = cairn::options_markdown();
    if (page == "metrics.md") text = cairn::metrics_markdown();
    if (text.empty()) {
        std::fputs("usage: gen_docs configuration.md | metrics.md\n", stderr);
        return 2;
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}
