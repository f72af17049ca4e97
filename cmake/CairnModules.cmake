# The modules of src/ as libraries, twice: as shipped, and with `_san` behind their names under the sanitizers that
# the tests use. libllama itself is built once, without them.
set(CAIRN_WARNINGS -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wunused -Wundef)
if(CAIRN_WERROR)
  list(APPEND CAIRN_WARNINGS -Werror)
endif()

add_library(cairn_options INTERFACE)
target_include_directories(cairn_options INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(cairn_options INTERFACE ${CAIRN_WARNINGS})
target_compile_definitions(cairn_options INTERFACE CAIRN_VERSION="${PROJECT_VERSION}" BOOST_ASIO_NO_DEPRECATED)
target_link_libraries(cairn_options INTERFACE Threads::Threads)

add_library(cairn_sanitize INTERFACE)
if(CAIRN_TEST_SANITIZE)
  target_compile_options(cairn_sanitize INTERFACE -g1 -O1 -fno-omit-frame-pointer -fsanitize=${CAIRN_TEST_SANITIZE}
                                                  -fno-sanitize-recover=all)
  target_link_options(cairn_sanitize INTERFACE -fsanitize=${CAIRN_TEST_SANITIZE})
endif()

# cairn_module_library(NAME MODULES a b c LINK libs...): one library over src/a, src/b, src/c, and its `_san` twin.
# LINK_CAIRN: modules it is built on, each with a twin too. main.cc is left out: it belongs to an executable.
function(cairn_module_library name)
  cmake_parse_arguments(ARG "" "" "MODULES;SOURCES;LINK;LINK_CAIRN" ${ARGN})
  set(sources)
  foreach(module IN LISTS ARG_MODULES)
    file(GLOB module_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${module}/*.cc)
    list(APPEND sources ${module_sources})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  list(APPEND sources ${ARG_SOURCES})
  if(NOT sources)
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC cairn_options ${ARG_LINK} ${ARG_LINK_CAIRN})
  if(CAIRN_TESTS)
    add_library(${name}_san STATIC ${sources})
    list(TRANSFORM ARG_LINK_CAIRN APPEND _san OUTPUT_VARIABLE sanitized)
    target_link_libraries(${name}_san PUBLIC cairn_options cairn_sanitize ${ARG_LINK} ${sanitized})
    set_target_properties(${name}_san PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

cairn_module_library(cairn_core
  MODULES base env config metrics state model index store policy cache spec engine
  LINK fmt::fmt spdlog::spdlog prometheus-cpp::core ${CAIRN_XXHASH} ${CAIRN_SQLITE})
cairn_module_library(cairn_sim MODULES sim LINK_CAIRN cairn_core)

if(CAIRN_WITH_LLAMA)
  cairn_module_library(cairn_llama MODULES llama LINK cairn_llama_headers llama LINK_CAIRN cairn_core)
  cairn_module_library(cairn_api MODULES api LINK cairn_llama_headers llama-common LINK_CAIRN cairn_core)
  cairn_module_library(cairn_library MODULES library LINK_CAIRN cairn_api cairn_llama)
  cairn_module_library(cairn_server MODULES server LINK_CAIRN cairn_api)
  # The texts of `cairn demo` are compiled in.
  include(EmbedText)
  cairn_embed_text(demo_handbook kDemoHandbookText ${PROJECT_SOURCE_DIR}/tools/demo/handbook.txt)
  cairn_embed_text(demo_questions kDemoQuestionsText ${PROJECT_SOURCE_DIR}/tools/demo/questions.json)
  cairn_module_library(cairn_app MODULES app SOURCES ${demo_handbook} ${demo_questions}
    LINK_CAIRN cairn_server cairn_library)
  if(TARGET cairn_app)
    set(demo_model CAIRN_DEMO_MODEL="${PROJECT_SOURCE_DIR}/models/demo.gguf")
    add_executable(cairn src/app/main.cc)
    target_link_libraries(cairn PRIVATE cairn_app)
    target_compile_definitions(cairn_app PRIVATE ${demo_model})
    if(CAIRN_TESTS)
      add_executable(cairn_san EXCLUDE_FROM_ALL src/app/main.cc)
      target_link_libraries(cairn_san PRIVATE cairn_app_san)
      target_compile_definitions(cairn_app_san PRIVATE ${demo_model})
      set_target_properties(cairn_san PROPERTIES OUTPUT_NAME cairn-san)
    endif()
  endif()
endif()
