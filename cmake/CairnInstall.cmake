# `cmake --install`: the program, libcairn with its public headers, and a CMake package.
#
#     find_package(cairn REQUIRED)
#     target_link_libraries(app PRIVATE cairn::cairn)
#
# libcairn.a holds cairn's own modules below the server and the llama.cpp that was built with them; what it takes from
# the system are the libraries that cairnConfig.cmake looks for. With CAIRN_LLAMA_PREFIX or CAIRN_CUDA, whose libraries
# lie elsewhere, the program alone is installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS cairn RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

if(CAIRN_LLAMA_PREFIX OR CAIRN_CUDA)
  return()
endif()

set(parts cairn_library cairn_api cairn_llama cairn_core llama-common llama-common-base llama ggml ggml-cpu ggml-base)
if(TARGET cpp-httplib)
  list(APPEND parts cpp-httplib)
endif()
set(archive ${CMAKE_BINARY_DIR}/libcairn.a)
set(script "CREATE ${archive}\n")
set(files)
foreach(part IN LISTS parts)
  string(APPEND script "ADDLIB $<TARGET_FILE:${part}>\n")
  list(APPEND files $<TARGET_FILE:${part}>)
endforeach()
string(APPEND script "SAVE\nEND\n")
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/libcairn.mri CONTENT "${script}")
add_custom_command(OUTPUT ${archive}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
  COMMAND ${CMAKE_AR} -M < ${CMAKE_BINARY_DIR}/libcairn.mri
  DEPENDS ${parts} ${files} ${CMAKE_BINARY_DIR}/libcairn.mri
  COMMENT "Gathering libcairn.a" VERBATIM)
add_custom_target(libcairn DEPENDS ${archive})

# `make run` builds the program alone: the archive is gathered of what that was built from.
install(CODE "
execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target libcairn RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR \"libcairn.a cannot be built: see above\")
endif()" COMPONENT library)
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cairn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/cairnConfig.cmake.in ${CMAKE_BINARY_DIR}/cairnConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cairnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cairnConfig.cmake ${CMAKE_BINARY_DIR}/cairnConfigVersion.cmake
  DESTINATION ${package} COMPONENT library)
