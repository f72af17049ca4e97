// Asks a model twice through the installed library, and fails unless the second turn computes the new tokens alone.
#include <cairn/cairn.h>

#include <cstdio>

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: consumer MODEL\n");
        return 2;
    }
    cairn::ModelOptions options;
    options.model.path = argv[1];
    options.model.threads = 1;
    options.engine.dynamic_batching.emplace();
    options.engine.dynamic_batching->snapshot_ram_bytes = std::size_t{64} << 20;
    const auto model = cairn::Model::open(options);
    if (!model) {
        std::fprintf(stderr, "%s\n", model.error().what.c_str());
        return 1;
    }
    cairn::Generator generator(*model, {.sampling = {.temperature = 0}, .max_tokens = 8});
    const auto first = generator.generate("A cairn is a heap of stones that shows the way.");
    if (!first) return 1;
    const auto said = static_cast<cairn::TokenPos>(generator.tokens().size());
    const auto second = generator.continue_with(" Who built it?");
    if (!second) return 1;
    std::printf("%d tokens were there, %d of them were not computed again\n", said, second->usage.cached_tokens);
    return second->usage.cached_tokens >= said - 1 ? 0 : 1;
}
