// Chat templates written for the tests: the shapes that models have.
#pragma once

namespace cairn::test {

/// ChatML that drops the reasoning of turns before the last user message, and shows tools in the system prompt.
inline constexpr const char *kThinkingTemplate = R"({%- set ns = namespace(last=-1) -%}
{%- for m in messages -%}{%- if m.role == 'user' -%}{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}
{%- if tools -%}
{{- '<|im_start|>system\n' -}}
{%- if messages[0].role == 'system' -%}{{- messages[0].content + '\n' -}}{%- endif -%}
{%- for tool in tools -%}{{- tool | tojson + '\n' -}}{%- endfor -%}
{{- '<|im_end|>\n' -}}
{%- elif messages[0].role == 'system' -%}
{{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' -}}
{%- endif -%}
{%- for m in messages -%}
{%- if m.role == 'assistant' -%}
{{- '<|im_start|>assistant\n' -}}
{%- if m.reasoning_content and loop.index0 > ns.last -%}{{- '<think>' + m.reasoning_content + '</think>' -}}{%- endif -%}
{{- m.content -}}
{%- for call in m.tool_calls or [] -%}
{{- '<tool_call>' + call.function.name + call.function.arguments | tojson + '</tool_call>' -}}
{%- endfor -%}
{{- '<|im_end|>\n' -}}
{%- elif m.role == 'tool' -%}
{{- '<|im_start|>user\n<tool_response>' + m.content + '</tool_response><|im_end|>\n' -}}
{%- elif m.role == 'user' -%}
{{- '<|im_start|>user\n' + m.content + '<|im_end|>\n' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\n' -}}
{%- if enable_thinking is defined and not enable_thinking -%}{{- '<think></think>' -}}{%- endif -%}
{%- endif -%})";

/// No system role, contents trimmed, BOS written by the template.
inline constexpr const char *kNoSystemTemplate = R"({{- bos_token -}}
{%- if messages[0].role == 'system' -%}{{- raise_exception('No system role here') -}}{%- endif -%}
{%- for m in messages -%}
{{- '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\n' + m.content | trim + '<end_of_turn>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<start_of_turn>model\n' -}}{%- endif -%})";

/// Headers between control tokens, as in Llama 3.
inline constexpr const char *kHeaderTemplate = R"({{- bos_token -}}
{%- for m in messages -%}
{{- '<|head|>' + m.role + '<|head|>\n\n' + m.content | trim + '<|eot|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|head|>assistant<|head|>\n\n' -}}{%- endif -%})";

/// Markup without any control token.
inline constexpr const char *kPlainTemplate = R"({%- for m in messages -%}
{%- if m.role == 'system' -%}{{- m.content + '\n\n' -}}
{%- else -%}{{- ('Human: ' if m.role == 'user' else 'Robot: ') + m.content + '\n\n' -}}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- 'Robot:' -}}{%- endif -%})";

}  // namespace cairn::test
