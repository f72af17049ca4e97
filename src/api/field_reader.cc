#include "api/field_reader.h"

#include <cmath>
#include <limits>

#include "api/json_shape.h"

namespace cairn {

namespace {

/// The part of a JSON library's message that tells a client something.
std::string parse_problem(const std::string &what) {
    if (what.find("UTF-8") != std::string::npos) return "a text in it is not valid UTF-8";
    const auto at = what.find("] ");
    return at == std::string::npos ? what : what.substr(at + 2);
}

}  // namespace

Result<Json> parse_object(std::string_view body) {
    switch (json_shape(body)) {
        case JsonShape::fine: break;
        case JsonShape::too_deep:
            return fail(ErrorCode::invalid_argument, "The body is nested too deeply: at most {} levels are accepted",
                        kMaxJsonDepth);
        case JsonShape::too_many_fields:
            return fail(ErrorCode::invalid_argument, "The body has an object with too many fields");
    }
    if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return fail(ErrorCode::invalid_argument, "The body is empty: send a JSON object");
    }
    Json json;
    try {
        json = Json::parse(body);
    } catch (const Json::exception &error) {
        return fail(ErrorCode::invalid_argument, "The body is not valid JSON: {}", parse_problem(error.what()));
    }
    if (!json.is_object()) return fail(ErrorCode::invalid_argument, "The body must be a JSON object");
    return json;
}

void FirstError::add(ErrorCode code, std::string what) {
    if (!error_) error_ = Error{code, std::move(what)};
}

FieldReader::FieldReader(const Json &object, std::string path, FirstError &error)
    : object_(object), path_(std::move(path)), error_(error) {}

const Json *FieldReader::any(const char *name) const {
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::string FieldReader::path_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

void FieldReader::must_be(std::string_view name, std::string_view what) {
    error_.add(ErrorCode::invalid_argument, fmt::format("'{}' must be {}", path_of(name), what));
}

void FieldReader::unsupported(std::string_view name, std::string_view what) {
    error_.add(ErrorCode::unsupported, fmt::format("'{}' {}", path_of(name), what));
}

std::optional<bool> FieldReader::boolean(const char *name) {
    const Json *value = any(name);
    if (value == nullptr) return std::nullopt;
    if (value->is_boolean()) return value->get<bool>();
    must_be(name, "true or false");
    return std::nullopt;
}

std::optional<std::int64_t> integer_in(const Json &value, std::int64_t min, std::int64_t max) {
    std::int64_t result = 0;
    if (value.is_number_unsigned()) {
        const auto wide = value.get<std::uint64_t>();
        if (wide > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
        result = static_cast<std::int64_t>(wide);
    } else if (value.is_number_integer()) {
        result = value.get<std::int64_t>();
    } else if (value.is_number_float()) {
        constexpr double kExact = 9007199254740992.0;  // 2^53: integers up to here are exact
        const auto number = value.get<double>();
        if (!(std::abs(number) <= kExact) || std::trunc(number) != number) return std::nullopt;
        result = static_cast<std::int64_t>(number);
    } else {
        return std::nullopt;
    }
    if (result < min || result > max) return std::nullopt;
    return result;
}

std::optional<std::int64_t> FieldReader::integer(const char *name, std::int64_t min, std::int64_t max) {
    const Json *value = any(name);
    if (value == nullptr) return std::nullopt;
    const auto result = integer_in(*value, min, max);
    if (!result) must_be(name, fmt::format("an integer between {} and {}", min, max));
    return result;
}

std::optional<double> FieldReader::number(const char *name, double min, double max) {
    const Json *value = any(name);
    if (value == nullptr) return std::nullopt;
    if (value->is_number()) {
        const auto result = value->get<double>();
        if (result >= min && result <= max) return result;
    }
    must_be(name, fmt::format("a number between {} and {}", min, max));
    return std::nullopt;
}

std::optional<std::string> FieldReader::text(const char *name) {
    const Json *value = any(name);
    if (value == nullptr) return std::nullopt;
    if (value->is_string()) return value->get<std::string>();
    must_be(name, "a string");
    return std::nullopt;
}

const Json *FieldReader::array(const char *name) {
    const Json *value = any(name);
    if (value == nullptr || value->is_array()) return value;
    must_be(name, "an array");
    return nullptr;
}

const Json *FieldReader::object(const char *name) {
    const Json *value = any(name);
    if (value == nullptr || value->is_object()) return value;
    must_be(name, "an object");
    return nullptr;
}

}  // namespace cairn
