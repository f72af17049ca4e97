# cairn_embed_text(RESULT SYMBOL FILE): makes a .cc that defines `const std::string_view cairn::SYMBOL` as the text of FILE
# and puts its path into the variable RESULT. A change of FILE runs CMake again. For texts below 60 KB: what a compiler must
# take as one literal.
function(cairn_embed_text result symbol file)
  cairn_read_literal(text ${file})
  set(output ${CMAKE_BINARY_DIR}/generated/${symbol}.cc)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"#include <string_view>

namespace cairn {
extern const std::string_view @symbol@;
const std::string_view @symbol@ = R\"cairn(@text@)cairn\";
}  // namespace cairn
")
  set(${result} ${output} PARENT_SCOPE)
endfunction()

# cairn_embed_texts(RESULT SYMBOL FILES...): the same for several, as `std::span<const std::pair<name, text>>`.
function(cairn_embed_texts result symbol)
  set(rows)
  foreach(file IN LISTS ARGN)
    cairn_read_literal(text ${file})
    get_filename_component(name ${file} NAME)
    string(APPEND rows "    {\"${name}\", R\"cairn(${text})cairn\"},\n")
  endforeach()
  set(output ${CMAKE_BINARY_DIR}/generated/${symbol}.cc)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"#include <span>
#include <string_view>
#include <utility>

namespace cairn {
static constexpr std::pair<std::string_view, std::string_view> kRows[] = {
@rows@};
extern const std::span<const std::pair<std::string_view, std::string_view>> @symbol@;
const std::span<const std::pair<std::string_view, std::string_view>> @symbol@ = kRows;
}  // namespace cairn
")
  set(${result} ${output} PARENT_SCOPE)
endfunction()

function(cairn_read_literal result file)
  get_filename_component(file ${file} ABSOLUTE)
  file(SIZE ${file} size)
  if(size GREATER 60000)
    message(FATAL_ERROR "${file} is too long for one string literal (${size} bytes, at most 60000)")
  endif()
  file(READ ${file} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  set(${result} "${text}" PARENT_SCOPE)
endfunction()
