// FieldReader: typed fields out of a client's JSON, with errors that name the field and say what it should be.
//
//     FirstError error;
//     FieldReader fields(body, "", error);
//     params.temperature = fields.number("temperature", 0, 2).value_or(params.temperature);
//     if (error) return fail(error.take());
//
// A field that is absent or null gives nothing. A field of the wrong type or out of bounds gives nothing too, and the
// first such error is kept: reading goes on, so that a parser is a list of fields and not a ladder of checks. Threads:
// plain values. Ownership: borrows the JSON and the error.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cairn/error.h"

namespace cairn {

using Json = nlohmann::ordered_json;

/// The object in `body`. invalid_argument where it is not JSON, not UTF-8, no object, or nested too deeply. Of fields
/// that come twice the last one counts.
[[nodiscard]] Result<Json> parse_object(std::string_view body);

class FirstError {
public:
    explicit operator bool() const noexcept { return error_.has_value(); }
    void add(ErrorCode code, std::string what);
    [[nodiscard]] Error take() { return std::move(*error_); }

private:
    std::optional<Error> error_;
};

class FieldReader {
public:
    /// `object` must be a JSON object; `path` is put in front of names in errors.
    FieldReader(const Json &object, std::string path, FirstError &error);

    [[nodiscard]] std::optional<bool> boolean(const char *name);
    /// A number without a fraction; 5.0 is one.
    [[nodiscard]] std::optional<std::int64_t> integer(const char *name, std::int64_t min, std::int64_t max);
    [[nodiscard]] std::optional<double> number(const char *name, double min, double max);
    [[nodiscard]] std::optional<std::string> text(const char *name);
    [[nodiscard]] const Json *array(const char *name);
    [[nodiscard]] const Json *object(const char *name);
    /// Whatever is there; null where nothing is.
    [[nodiscard]] const Json *any(const char *name) const;

    [[nodiscard]] std::string path_of(std::string_view name) const;
    void must_be(std::string_view name, std::string_view what);
    void unsupported(std::string_view name, std::string_view what);

private:
    const Json &object_;
    std::string path_;
    FirstError &error_;
};

/// The integer in `value`, where it is one between the bounds.
[[nodiscard]] std::optional<std::int64_t> integer_in(const Json &value, std::int64_t min, std::int64_t max);

}  // namespace cairn
