// GgufFile: what can be known of a GGUF model before its weights are loaded, and its share of the fingerprint.
//
//     auto file = GgufFile::open("model-00001-of-00003.gguf");    // the other parts are found beside it
//     if (!file) ...                                              // missing, foreign, truncated: says which
//     file->add_to(builder);
//
// Errors: model_file, with what is wrong and what to do.
// Cost: reads the metadata, and of the weights up to 64 MiB: whole where the file is small, three windows of each
// tensor where it is not. Two trainings of one shape differ in every such window.
#pragma once

#include <string>
#include <vector>

#include "cairn/error.h"
#include "llama/llama_handles.h"
#include "state/fingerprint.h"

namespace cairn {

class GgufFile {
public:
    [[nodiscard]] static Result<GgufFile> open(const std::string &path);

    [[nodiscard]] std::uint64_t total_bytes() const { return total_bytes_; }
    [[nodiscard]] std::string architecture() const;
    /// `general.name`, or the file's name without its ending.
    [[nodiscard]] std::string name() const;
    [[nodiscard]] bool has_tensor(const char *name) const;
    /// Metadata that shapes the state, names, shapes and types of the tensors, and their contents as said above.
    [[nodiscard]] Status add_to(FingerprintBuilder &builder) const;

private:
    struct Part {
        std::string path;
        std::uint64_t bytes = 0;
        GgufHandle gguf;
    };
    [[nodiscard]] static Result<Part> open_part(const std::string &path);
    [[nodiscard]] std::string text(const char *key) const;

    std::vector<Part> parts_;
    std::uint64_t total_bytes_ = 0;
};

}  // namespace cairn
