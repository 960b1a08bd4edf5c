# hyphos_add_messages(<target> PROTOS <file>... [IMPORT_DIR <dir>])
#
# Turns .proto files into a library that any node links: the generated headers are found under the
# path that the file has below IMPORT_DIR (default: the current source directory), as in
# `#include "mine/msgs.pb.h"`.
function(hyphos_add_messages target)
  cmake_parse_arguments(ARG "" "IMPORT_DIR" "PROTOS" ${ARGN})
  if(NOT ARG_PROTOS)
    message(FATAL_ERROR "hyphos_add_messages(${target}): give at least one file after PROTOS")
  endif()
  if(NOT ARG_IMPORT_DIR)
    set(ARG_IMPORT_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_generated)
  file(MAKE_DIRECTORY ${out})
  set(import_dirs -I ${ARG_IMPORT_DIR})
  if(HYPHOS_PROTO_DIR AND NOT HYPHOS_PROTO_DIR STREQUAL ARG_IMPORT_DIR)
    list(APPEND import_dirs -I ${HYPHOS_PROTO_DIR})
  endif()
  set(sources)
  foreach(proto ${ARG_PROTOS})
    file(REAL_PATH ${proto} full BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    file(RELATIVE_PATH relative ${ARG_IMPORT_DIR} ${full})
    string(REGEX REPLACE "\\.proto$" "" stem ${relative})
    add_custom_command(
      OUTPUT ${out}/${stem}.pb.cc ${out}/${stem}.pb.h
      COMMAND protobuf::protoc ${import_dirs} --cpp_out=${out} ${full}
      DEPENDS ${full} protobuf::protoc
      COMMENT "protoc ${relative}" VERBATIM)
    list(APPEND sources ${out}/${stem}.pb.cc)
  endforeach()
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET default)
  target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${out}>)
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
endfunction()
