// The fields of a chat completion that make its prompt: messages, tools, template arguments.
#pragma once

#include "api/chat_template.h"
#include "api/field_reader.h"

namespace cairn {

[[nodiscard]] ChatInput read_chat_input(FieldReader &fields, FirstError &error);

}  // namespace cairn
