# hyphos_add_messages(<target> PROTOS <file>... [IMPORT_DIR <dir>])
#
# Makes a library from .proto files that any node can link. The path of a generated header is the
# path of its file below IMPORT_DIR (default: the current source directory), as in `#include
# "mine/msgs.pb.h"`. A file may import "hyphos/msgs/….proto" and "hyphos/ros/options.proto".
#
# The library is shared, because protobuf aborts a process in which two plug-ins register the same
# file.
function(hyphos_add_messages target)
  cmake_parse_arguments(ARG "" "IMPORT_DIR" "PROTOS" ${ARGN})
  if(NOT ARG_PROTOS)
    message(FATAL_ERROR "hyphos_add_messages(${target}): give at least one file after PROTOS")
  endif()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hyphos_add_messages(${target}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_IMPORT_DIR)
    set(ARG_IMPORT_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  file(REAL_PATH ${ARG_IMPORT_DIR} import_dir BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_generated)
  file(MAKE_DIRECTORY ${out})
  set(import_dirs -I ${import_dir})
  if(HYPHOS_PROTO_DIR AND NOT HYPHOS_PROTO_DIR STREQUAL import_dir)
    list(APPEND import_dirs -I ${HYPHOS_PROTO_DIR})
  endif()
  set(sources)
  set(standard_imports)
  foreach(proto ${ARG_PROTOS})
    file(REAL_PATH ${proto} full BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    file(RELATIVE_PATH relative ${import_dir} ${full})
    if(relative MATCHES "^\\.\\./")
      message(FATAL_ERROR "hyphos_add_messages(${target}): ${full} is not below ${import_dir}. Set IMPORT_DIR")
    endif()
    file(STRINGS ${full} imports REGEX "^import +\"hyphos/(msgs|ros)/")
    list(APPEND standard_imports ${imports})
    string(REGEX REPLACE "\\.proto$" "" stem ${relative})
    add_custom_command(
      OUTPUT ${out}/${stem}.pb.cc ${out}/${stem}.pb.h
      COMMAND protobuf::protoc ${import_dirs} --cpp_out=${out} ${full}
      DEPENDS ${full} protobuf::protoc
      COMMENT "protoc ${relative}" VERBATIM)
    list(APPEND sources ${out}/${stem}.pb.cc)
  endforeach()
  add_library(${target} SHARED ${sources})
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${out}>)
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
  if(standard_imports AND NOT target STREQUAL "hyphos_msgs")
    target_link_libraries(${target} PUBLIC hyphos::msgs)
  endif()
endfunction()
