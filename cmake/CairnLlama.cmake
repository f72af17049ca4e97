# llama.cpp, in this order of preference:
#   CAIRN_LLAMA_PREFIX   an installed one: libraries and headers below this prefix. llama.cpp does not install the
#                        headers of llama-common, so CAIRN_LLAMA_SOURCE must name a checkout of the same version too.
#   CAIRN_LLAMA_SOURCE   a checked-out one: built as a part of cairn
#   neither              the version pinned below, from the source bundle inside the npm package of node-llama-cpp
# The targets `llama` and `llama-common` are there afterwards.
set(CAIRN_LLAMA_SOURCE "" CACHE PATH "A checkout of llama.cpp to build instead of the pinned one")
set(CAIRN_LLAMA_PREFIX "" CACHE PATH "The prefix of an installed llama.cpp to use instead of building one")

set(CAIRN_LLAMA_VERSION 0.5.0)
set(CAIRN_LLAMA_COMMIT de3ff815ea7d559ee917f063901b8986f038abc6)

if(CAIRN_LLAMA_PREFIX)
  if(NOT EXISTS ${CAIRN_LLAMA_SOURCE}/common/chat.h)
    message(FATAL_ERROR "CAIRN_LLAMA_PREFIX needs the headers of llama-common, which llama.cpp does not install: set "
                        "CAIRN_LLAMA_SOURCE to a checkout of the same version (common/chat.h was not found there)")
  endif()
  find_package(llama CONFIG REQUIRED PATHS ${CAIRN_LLAMA_PREFIX} NO_DEFAULT_PATH)
  find_library(CAIRN_LLAMA_COMMON llama-common REQUIRED PATHS ${CAIRN_LLAMA_PREFIX}/lib NO_DEFAULT_PATH)
  add_library(llama-common INTERFACE)
  target_include_directories(llama-common SYSTEM INTERFACE ${CAIRN_LLAMA_SOURCE}/common ${CAIRN_LLAMA_SOURCE}/vendor)
  target_link_libraries(llama-common INTERFACE ${CAIRN_LLAMA_COMMON} llama)
  return()
endif()

if(NOT CAIRN_LLAMA_SOURCE)
  set(CAIRN_LLAMA_BUNDLE ${CMAKE_BINARY_DIR}/_deps/llama.bundle)
  if(NOT EXISTS ${CAIRN_LLAMA_BUNDLE})
    message(STATUS "Fetching the source of llama.cpp ${CAIRN_LLAMA_VERSION}")
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/fetch-llama ${CAIRN_LLAMA_BUNDLE} RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "The source of llama.cpp could not be fetched: the line above says what failed. Run the same "
                          "command again, or set CAIRN_LLAMA_SOURCE to a checkout of llama.cpp ${CAIRN_LLAMA_VERSION}.")
    endif()
  endif()
endif()

# What cairn uses of it: the libraries, and for the benches its own bench and server.
set(BUILD_SHARED_LIBS OFF)
set(LLAMA_BUILD_COMMON ON CACHE INTERNAL "")
set(LLAMA_BUILD_TESTS OFF CACHE INTERNAL "")
set(LLAMA_BUILD_EXAMPLES OFF CACHE INTERNAL "")
set(LLAMA_BUILD_TOOLS ON CACHE INTERNAL "")
set(LLAMA_BUILD_SERVER ON CACHE INTERNAL "")
set(LLAMA_BUILD_APP OFF CACHE INTERNAL "")
set(LLAMA_BUILD_UI OFF CACHE INTERNAL "")
set(LLAMA_USE_PREBUILT_UI OFF CACHE INTERNAL "")
set(LLAMA_OPENSSL OFF CACHE INTERNAL "")
set(LLAMA_SUBPROCESS OFF CACHE INTERNAL "")
set(GGML_CUDA ${CAIRN_CUDA} CACHE BOOL "" FORCE)

include(FetchContent)
if(CAIRN_LLAMA_SOURCE)
  FetchContent_Declare(llama SOURCE_DIR ${CAIRN_LLAMA_SOURCE})
else()
  FetchContent_Declare(llama GIT_REPOSITORY ${CAIRN_LLAMA_BUNDLE} GIT_TAG ${CAIRN_LLAMA_COMMIT} GIT_PROGRESS OFF)
endif()
FetchContent_GetProperties(llama)
if(NOT llama_POPULATED)
  FetchContent_Populate(llama)
  # EXCLUDE_FROM_ALL: only the targets that cairn links, and those a bench asks for, are built.
  add_subdirectory(${llama_SOURCE_DIR} ${llama_BINARY_DIR} EXCLUDE_FROM_ALL)
endif()

# Its headers as system headers, for our code only: their warnings are not ours.
add_library(cairn_llama_headers INTERFACE)
foreach(target llama ggml ggml-base llama-common)
  get_target_property(headers ${target} INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(source_dir ${target} SOURCE_DIR)
  foreach(header IN LISTS headers)
    if(header AND NOT header MATCHES "\\$<INSTALL_INTERFACE")
      string(REGEX REPLACE "\\$<BUILD_INTERFACE:(.*)>" "\\1" header "${header}")
      get_filename_component(header ${header} ABSOLUTE BASE_DIR ${source_dir})
      target_include_directories(cairn_llama_headers SYSTEM INTERFACE ${header})
    endif()
  endforeach()
endforeach()
