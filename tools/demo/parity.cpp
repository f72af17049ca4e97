// parity: writes libllama's logits at every position of a list of tokens, and checks how it splits a text.
//
//     parity MODEL IDS TEXT OUT [BATCH [f32|f16]]
//
// IDS holds token ids as numbers, TEXT the text they stand for; OUT gets positions x vocabulary floats. BATCH tokens
// are computed at a time (512). With f32, the default, K and V are kept in F32 and flash attention is off, as it rounds
// them.
//
//     L=<llama.cpp>; g++ -O1 -std=c++17 -I$L/include -I$L/ggml/include parity.cpp -o parity -L$L/build/bin
//         -lllama -lggml -lggml-base -Wl,-rpath,$L/build/bin
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "llama.h"

using Ids = std::vector<llama_token>;

struct File {
    explicit File(const char *path) : handle(fopen(path, "wb")) {}
    ~File() {
        if (handle) fclose(handle);
    }
    FILE *handle;
};

static int fail(const char *what) {
    fprintf(stderr, "parity: %s\n", what);
    return 1;
}

static Ids read_ids(const char *path) {
    std::ifstream file(path);
    return {std::istream_iterator<llama_token>(file), {}};
}

static std::string read_text(const char *path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

static void compare_tokens(const llama_vocab *vocab, const std::string &text, const Ids &expected) {
    Ids found(text.size() + 8);
    found.resize(std::max(0, llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()), found.data(),
                                            static_cast<int32_t>(found.size()), true, true)));
    printf("tokens: %s (%zu, expected %zu)\n", found == expected ? "the same" : "DIFFERENT", found.size(),
           expected.size());
    for (size_t i = 0; i < std::min(found.size(), expected.size()); i++) {
        if (found[i] == expected[i]) continue;
        printf("  the first difference is at %zu: %d, expected %d\n", i, found[i], expected[i]);
        return;
    }
}

static bool write_logits(llama_context *context, int32_t vocabulary, const Ids &ids, int32_t batch_size, FILE *out) {
    llama_batch batch = llama_batch_init(batch_size, 0, 1);
    bool good = true;
    for (size_t begin = 0; good && begin < ids.size(); begin += batch_size) {
        batch.n_tokens = static_cast<int32_t>(std::min<size_t>(batch_size, ids.size() - begin));
        for (int32_t i = 0; i < batch.n_tokens; i++) {
            batch.token[i] = ids[begin + i];
            batch.pos[i] = static_cast<llama_pos>(begin) + i;
            batch.n_seq_id[i] = 1;
            batch.seq_id[i][0] = 0;
            batch.logits[i] = 1;
        }
        good = llama_decode(context, batch) == 0;
        for (int32_t i = 0; good && i < batch.n_tokens; i++) {
            good = fwrite(llama_get_logits_ith(context, i), sizeof(float), vocabulary, out) == size_t(vocabulary);
        }
    }
    llama_batch_free(batch);
    return good;
}

int main(int argc, char **argv) {
    if (argc < 5) return fail("usage: parity MODEL IDS TEXT OUT [BATCH [f32|f16]]");
    const int32_t batch_size = argc > 5 ? atoi(argv[5]) : 512;
    if (batch_size < 1 || batch_size > 512) return fail("BATCH is a number from 1 to 512");
    const bool f32 = argc <= 6 || strcmp(argv[6], "f32") == 0;
    const auto only_errors = [](ggml_log_level level, const char *text, void *) {
        if (level >= GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
    };
    llama_log_set(only_errors, nullptr);

    std::unique_ptr<llama_model, decltype(&llama_model_free)> model(
        llama_model_load_from_file(argv[1], llama_model_default_params()), llama_model_free);
    if (!model) return fail("the model could not be loaded");
    llama_context_params params = llama_context_default_params();
    params.n_ctx = 8192;
    params.n_batch = params.n_ubatch = 512;
    if (f32) {
        params.type_k = params.type_v = GGML_TYPE_F32;
        params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    }
    std::unique_ptr<llama_context, decltype(&llama_free)> context(llama_init_from_model(model.get(), params),
                                                                  llama_free);
    if (!context) return fail("the context could not be made");

    const Ids ids = read_ids(argv[2]);
    const llama_vocab *vocab = llama_model_get_vocab(model.get());
    compare_tokens(vocab, read_text(argv[3]), ids);
    File out(argv[4]);
    if (!out.handle) return fail("OUT cannot be written");
    if (!write_logits(context.get(), llama_vocab_n_tokens(vocab), ids, batch_size, out.handle)) {
        return fail("a batch could not be computed or written");
    }
}
