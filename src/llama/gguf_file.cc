#include "llama/gguf_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "llama/llama_log.h"

namespace cairn {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kHashWholeBelow = std::uint64_t{64} << 20;
constexpr std::size_t kWindow = 4096;

struct FileCloser {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using FileHandle = std::unique_ptr<std::FILE, FileCloser>;

Result<FileHandle> open_file(const std::string &path) {
    FileHandle file(std::fopen(path.c_str(), "rb"));
    if (!file) return fail(ErrorCode::model_file, "cannot open the model file {}: {}", path, std::strerror(errno));
    return file;
}

Status check_magic(const std::string &path) {
    std::error_code error;
    const auto status = fs::status(path, error);
    if (!fs::exists(status)) {
        return fail(ErrorCode::model_file, "there is no model file {}: check the path", path);
    }
    if (fs::is_directory(status)) {
        return fail(ErrorCode::model_file, "{} is a directory: give the .gguf file inside it", path);
    }
    auto file = open_file(path);
    if (!file) return fail(file.error());
    std::array<char, 4> magic{};
    const std::size_t got = std::fread(magic.data(), 1, magic.size(), file->get());
    if (got < magic.size()) {
        return fail(ErrorCode::model_file, "{} is only {} bytes long, which is no model: download it again", path, got);
    }
    if (std::string_view(magic.data(), magic.size()) != "GGUF") {
        return fail(ErrorCode::model_file,
                    "{} is not a GGUF file (it does not begin with the letters GGUF): convert the model to GGUF first",
                    path);
    }
    return {};
}

/// Keys that say something to people, or to the tokenizer's user, but do not change a state.
bool shapes_the_state(std::string_view key) {
    if (key == "general.architecture" || key == "general.file_type") return true;
    return !key.starts_with("general.") && !key.starts_with("tokenizer.chat_template") && !key.starts_with("split.") &&
           !key.starts_with("quantize.");
}

/// Bytes of one value, by gguf_type; 0 for strings and arrays.
constexpr std::array<std::size_t, GGUF_TYPE_COUNT> kSizes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

void add_key(FingerprintBuilder &builder, const gguf_context *gguf, std::int64_t id) {
    const char *key = gguf_get_key(gguf, id);
    const gguf_type type = gguf_get_kv_type(gguf, id);
    if (type == GGUF_TYPE_STRING) {
        builder.add(key, std::string(gguf_get_val_str(gguf, id)));
    } else if (type != GGUF_TYPE_ARRAY) {
        builder.add(key, gguf_get_val_data(gguf, id), kSizes[static_cast<std::size_t>(type)]);
    } else if (gguf_get_arr_type(gguf, id) == GGUF_TYPE_STRING) {
        builder.add(key, static_cast<std::int64_t>(gguf_get_arr_n(gguf, id)));
        for (std::size_t i = 0; i < gguf_get_arr_n(gguf, id); ++i) {
            builder.add("", std::string(gguf_get_arr_str(gguf, id, i)));
        }
    } else {
        const auto size = kSizes[static_cast<std::size_t>(gguf_get_arr_type(gguf, id))];
        builder.add(key, gguf_get_arr_data(gguf, id), size * gguf_get_arr_n(gguf, id));
    }
}

Status add_range(FingerprintBuilder &builder, std::FILE *file, const std::string &path, std::uint64_t offset,
                 std::size_t size) {
    std::vector<char> buffer(size);
    if (fseeko(file, static_cast<off_t>(offset), SEEK_SET) != 0 || std::fread(buffer.data(), 1, size, file) != size) {
        return fail(ErrorCode::model_file, "cannot read the weights in {}: {}", path, std::strerror(errno));
    }
    builder.add("weights", buffer.data(), buffer.size());
    return {};
}

Status add_tensor(FingerprintBuilder &builder, std::FILE *file, const std::string &path, const gguf_context *gguf,
                  std::int64_t id, bool whole) {
    const std::uint64_t begin = gguf_get_data_offset(gguf) + gguf_get_tensor_offset(gguf, id);
    const std::size_t size = gguf_get_tensor_size(gguf, id);
    builder.add("tensor", std::string(gguf_get_tensor_name(gguf, id)));
    builder.add("shape", gguf_get_tensor_ne(gguf, id), GGML_MAX_DIMS * sizeof(std::int64_t));
    builder.add("type", static_cast<std::int64_t>(gguf_get_tensor_type(gguf, id)));
    if (whole || size <= 3 * kWindow) return add_range(builder, file, path, begin, size);
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{size / 2}, std::uint64_t{size - kWindow}}) {
        if (auto added = add_range(builder, file, path, begin + offset, kWindow); !added) return added;
    }
    return {};
}

}  // namespace

Result<GgufFile::Part> GgufFile::open_part(const std::string &path) {
    if (auto checked = check_magic(path); !checked) return fail(checked.error());
    const LlamaLogCapture capture;
    Part part{path, fs::file_size(path), GgufHandle(gguf_init_from_file(path.c_str(), {true, nullptr}))};
    if (!part.gguf) {
        return fail(ErrorCode::model_file, "{} is damaged or of an unknown GGUF version ({}): download it again", path,
                    capture.errors());
    }
    std::uint64_t needed = gguf_get_data_offset(part.gguf.get());
    for (std::int64_t i = 0; i < gguf_get_n_tensors(part.gguf.get()); ++i) {
        needed = std::max<std::uint64_t>(needed, gguf_get_data_offset(part.gguf.get()) +
                                                     gguf_get_tensor_offset(part.gguf.get(), i) +
                                                     gguf_get_tensor_size(part.gguf.get(), i));
    }
    if (part.bytes < needed) {
        return fail(ErrorCode::model_file,
                    "{} is truncated: it has {} bytes and its weights need {}: download it again", path, part.bytes,
                    needed);
    }
    return part;
}

Result<GgufFile> GgufFile::open(const std::string &path) {
    init_llama_once();
    GgufFile file;
    auto first = open_part(path);
    if (!first) return fail(first.error());
    const std::int64_t count_key = gguf_find_key(first->gguf.get(), "split.count");
    const int count = count_key < 0 || gguf_get_kv_type(first->gguf.get(), count_key) != GGUF_TYPE_UINT16
                          ? 1
                          : gguf_get_val_u16(first->gguf.get(), count_key);
    file.parts_.push_back(std::move(*first));
    if (count > 1) {
        std::vector<char> prefix(path.size() + 64);
        if (llama_split_prefix(prefix.data(), prefix.size(), path.c_str(), 0, count) == 0) {
            return fail(ErrorCode::model_file,
                        "{} is one of {} parts, and not named as the first: give -m the part -00001-of-{:05}", path,
                        count, count);
        }
        for (int i = 1; i < count; ++i) {
            std::vector<char> name(prefix.size() + 64);
            llama_split_path(name.data(), name.size(), prefix.data(), i, count);
            auto part = open_part(name.data());
            if (!part) return fail(part.error());
            file.parts_.push_back(std::move(*part));
        }
    }
    for (const Part &part : file.parts_)
        file.total_bytes_ += part.bytes;
    return file;
}

std::string GgufFile::text(const char *key) const {
    const gguf_context *gguf = parts_.front().gguf.get();
    const std::int64_t id = gguf_find_key(gguf, key);
    if (id < 0 || gguf_get_kv_type(gguf, id) != GGUF_TYPE_STRING) return {};
    return gguf_get_val_str(gguf, id);
}

std::string GgufFile::architecture() const {
    return text("general.architecture");
}

std::string GgufFile::name() const {
    std::string name = text("general.name");
    return name.empty() ? fs::path(parts_.front().path).stem().string() : name;
}

bool GgufFile::has_tensor(const char *name) const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [&](const Part &part) { return gguf_find_tensor(part.gguf.get(), name) >= 0; });
}

Status GgufFile::add_to(FingerprintBuilder &builder) const {
    const bool whole = total_bytes_ <= kHashWholeBelow;
    for (const Part &part : parts_) {
        const gguf_context *gguf = part.gguf.get();
        for (std::int64_t i = 0; i < gguf_get_n_kv(gguf); ++i) {
            if (shapes_the_state(gguf_get_key(gguf, i))) add_key(builder, gguf, i);
        }
        auto file = open_file(part.path);
        if (!file) return fail(file.error());
        for (std::int64_t i = 0; i < gguf_get_n_tensors(gguf); ++i) {
            if (auto added = add_tensor(builder, file->get(), part.path, gguf, i, whole); !added) return added;
        }
    }
    return {};
}

}  // namespace cairn
