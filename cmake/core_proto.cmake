# hyphos_core_proto(<path below proto/>): compiles a message that is part of the core library,
# unlike the standard messages. Include it as "<path>.pb.h".
function(hyphos_core_proto path)
  set(proto ${PROJECT_SOURCE_DIR}/proto/${path}.proto)
  set(stem ${PROJECT_BINARY_DIR}/${path}.pb)
  string(REPLACE "/" "_" name ${path})
  add_custom_command(
    OUTPUT ${stem}.cc ${stem}.h
    COMMAND protobuf::protoc -I ${PROJECT_SOURCE_DIR}/proto --cpp_out=${PROJECT_BINARY_DIR} ${proto}
    DEPENDS ${proto} protobuf::protoc
    COMMENT "protoc ${path}.proto" VERBATIM)
  # A separate target generates the header before any room that includes it is compiled.
  add_custom_target(${name} DEPENDS ${stem}.cc ${stem}.h)
  add_dependencies(hyphos_objects ${name})
  add_dependencies(hyphos_small_objects ${name})
  set_property(SOURCE ${stem}.cc ${stem}.h TARGET_DIRECTORY hyphos_objects PROPERTY GENERATED TRUE)
  set_property(SOURCE ${stem}.cc TARGET_DIRECTORY hyphos_objects PROPERTY COMPILE_OPTIONS -w)
  target_sources(hyphos_objects PRIVATE ${stem}.cc)
endfunction()
