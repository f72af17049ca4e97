# Installs cairn below PREFIX, builds the consumer against it and runs it.
# -DBUILD=... -DPREFIX=... -DSOURCE=... -DMODEL=...
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGV}")
  endif()
endfunction()

file(REMOVE_RECURSE ${PREFIX})
file(REMOVE ${BUILD}/libcairn.a)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}/usr)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${PREFIX}/build -DCMAKE_PREFIX_PATH=${PREFIX}/usr -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${PREFIX}/build)
run(${PREFIX}/build/consumer ${MODEL})
run(${PREFIX}/usr/bin/cairn --version)
