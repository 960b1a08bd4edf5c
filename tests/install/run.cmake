# Installs the build in BUILD_DIR under WORK_DIR, builds the consumer project against that prefix
# only, and runs it. The prefix is moved once, because an installed tree must not depend on its
# original place.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first --component devel)
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/prefix)
# It runs the plug-ins of a plan.
run(${WORK_DIR}/prefix/bin/hyphos-host --help)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK_DIR}/build -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_CXX_FLAGS=-Werror=all -DGATEWAY=${GATEWAY} -DCOSIM=${COSIM} -DSCENARIO=${SOURCE_DIR}/examples/cosim/cosim.yaml
  -DSAMPLE_SIMULATOR=${SOURCE_DIR}/tests/cosim/sample_network.cpp)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
# One hyphos_add_messages() makes the types for C++, Python and the tools.
foreach(made python/garden/plant_pb2.py python/garden/plant_pb2.pyi garden_msgs.pb)
  if(NOT EXISTS ${WORK_DIR}/build/${made})
    message(FATAL_ERROR "hyphos_add_messages() has not made ${made}")
  endif()
endforeach()
run(protoc --descriptor_set_in=${WORK_DIR}/build/garden_msgs.pb --cpp_out=${WORK_DIR}
  garden/plant.proto hyphos/msgs/std.proto)
if(COSIM)
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --target run_scenario)
endif()
# A project of structs and bytes needs no Protobuf. It gets a remedy where it does.
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/structs -B ${WORK_DIR}/structs -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON -DCMAKE_CXX_FLAGS=-Werror=all)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/structs)
run(${WORK_DIR}/structs/ticker)
foreach(wrong "MESSAGES" "REQUIRE")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/structs
    -B ${WORK_DIR}/structs_${wrong} -G ${GENERATOR} -D${wrong}=ON
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON
    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  if(code EQUAL 0 OR NOT text MATCHES "apt install libprotobuf-dev protobuf-compiler")
    message(FATAL_ERROR "${wrong}: expected the remedy for a missing Protobuf, found ${code}: ${text}")
  endif()
endforeach()

set(programs gardener plain)
if(GATEWAY)
  list(APPEND programs door)
endif()
foreach(program ${programs})
  run(${WORK_DIR}/build/${program})
  run(${WORK_DIR}/build/${program}_pkg_config)
endforeach()
