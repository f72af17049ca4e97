#include "api/api.h"
#include "api/field_reader.h"
#include "base/error_table.h"
#include "base/json_text.h"

namespace cairn {

namespace {

/// Errors of the parsers begin with the field's name in quotes; OpenAI's clients read it from `param`.
Json param_of(const Error &error) {
    const bool about_a_field = error.code == ErrorCode::invalid_argument || error.code == ErrorCode::unsupported;
    if (!about_a_field || error.what.empty() || error.what.front() != '\'') return nullptr;
    const auto end = error.what.find('\'', 1);
    return end == std::string::npos ? Json(nullptr) : Json(error.what.substr(1, end - 1));
}

}  // namespace

std::string error_body(const Error &error) {
    const ErrorRow &row = row_of(error.code);
    const Json body = {
        {"error",
         {{"message", error.what}, {"type", row.openai_type}, {"param", param_of(error)}, {"code", row.name}}}};
    return json_text(body);
}

}  // namespace cairn
