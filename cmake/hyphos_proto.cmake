# hyphos_add_messages(<target> PROTOS <file>... [IMPORT_DIR <dir>] [PYTHON_DIR <dir>])
#
# Makes from .proto files:
# - a library that any node can link. The path of a generated header is the path of its file below
#   IMPORT_DIR (default: the current source directory), as in `#include "mine/msgs.pb.h"`.
# - Python modules with stubs below PYTHON_DIR (default: <current binary directory>/python), as in
#   `from mine.msgs_pb2 import Thing`. The property HYPHOS_PYTHON_DIR of the target has the folder.
# - the descriptors of all files and their imports, <current binary directory>/<target>.pb, for the
#   option --descriptor of the tools. The property HYPHOS_DESCRIPTORS of the target has the file.
#
# A file may import "hyphos/msgs/….proto" and "hyphos/ros/options.proto".
#
# The library is shared, because protobuf aborts a process in which two plug-ins register the same
# file.
function(hyphos_add_messages target)
  cmake_parse_arguments(ARG "" "IMPORT_DIR;PYTHON_DIR" "PROTOS" ${ARGN})
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
  if(NOT ARG_PYTHON_DIR)
    set(ARG_PYTHON_DIR ${CMAKE_CURRENT_BINARY_DIR}/python)
  endif()
  get_filename_component(python ${ARG_PYTHON_DIR} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_generated)
  set(descriptors ${CMAKE_CURRENT_BINARY_DIR}/${target}.pb)
  file(MAKE_DIRECTORY ${out})
  # The Python package of Hyphos has its own modules of the standard messages.
  set(with_python)
  if(NOT target STREQUAL "hyphos_msgs")
    file(MAKE_DIRECTORY ${python})
    set(with_python --python_out=${python} --pyi_out=${python})
  endif()
  set(import_dirs -I ${import_dir})
  if(HYPHOS_PROTO_DIR AND NOT HYPHOS_PROTO_DIR STREQUAL import_dir)
    list(APPEND import_dirs -I ${HYPHOS_PROTO_DIR})
  endif()
  set(sources)
  set(files)
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
    set(made ${out}/${stem}.pb.cc ${out}/${stem}.pb.h)
    if(with_python)
      # protoc replaces "-" in the names of modules, and "." separates packages.
      string(REPLACE "-" "_" module ${stem})
      string(REPLACE "." "/" module ${module})
      list(APPEND made ${python}/${module}_pb2.py ${python}/${module}_pb2.pyi)
    endif()
    add_custom_command(
      OUTPUT ${made}
      COMMAND protobuf::protoc ${import_dirs} --cpp_out=${out} ${with_python} ${full}
      DEPENDS ${full} protobuf::protoc
      COMMENT "protoc ${relative}" VERBATIM)
    list(APPEND sources ${out}/${stem}.pb.cc)
    list(APPEND files ${full})
  endforeach()
  add_custom_command(
    OUTPUT ${descriptors}
    COMMAND protobuf::protoc ${import_dirs} --include_imports -o ${descriptors} ${files}
    DEPENDS ${files} protobuf::protoc
    COMMENT "protoc ${target}.pb" VERBATIM)
  # As a source of the library, so that the target makes it.
  add_library(${target} SHARED ${sources} ${descriptors})
  set_target_properties(${target} PROPERTIES
    HYPHOS_PYTHON_DIR ${python} HYPHOS_DESCRIPTORS ${descriptors}
    CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_include_directories(${target} SYSTEM PUBLIC $<BUILD_INTERFACE:${out}>)
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
  if(standard_imports AND NOT target STREQUAL "hyphos_msgs")
    target_link_libraries(${target} PUBLIC hyphos::msgs)
  endif()
endfunction()
