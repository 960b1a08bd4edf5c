# The Rust crate behind the iceoryx2 peer. Its sources come from the crate registry, so that the
# peer is absent where that cannot be reached.
find_program(LAB_CARGO cargo)
file(GLOB LAB_LIBCLANG /usr/lib/llvm-*/lib/libclang-[0-9]*.so* /usr/lib/llvm-*/lib/libclang.so*)
set(LAB_IOX2_FOUND FALSE)
if(LAB_CARGO AND LAB_LIBCLANG)
  set(LAB_IOX2_DIR ${CMAKE_CURRENT_SOURCE_DIR}/peers/iceoryx2)
  set(LAB_IOX2_LIB ${CMAKE_CURRENT_BINARY_DIR}/cargo/release/liblab_iceoryx2.a)
  execute_process(COMMAND ${LAB_CARGO} --version OUTPUT_VARIABLE LAB_CARGO_VERSION)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" LAB_CARGO_VERSION "${LAB_CARGO_VERSION}")
  if(LAB_CARGO_VERSION VERSION_GREATER_EQUAL 1.89)
    execute_process(COMMAND ${LAB_CARGO} fetch --locked --quiet WORKING_DIRECTORY ${LAB_IOX2_DIR}
      RESULT_VARIABLE LAB_CARGO_RESULT ERROR_QUIET TIMEOUT 180)
    if(LAB_CARGO_RESULT EQUAL 0)
      set(LAB_IOX2_FOUND TRUE)
    endif()
  endif()
endif()
if(LAB_IOX2_FOUND)
  add_custom_command(OUTPUT ${LAB_IOX2_LIB}
    COMMAND ${CMAKE_COMMAND} -E env CARGO_TARGET_DIR=${CMAKE_CURRENT_BINARY_DIR}/cargo
      ${LAB_CARGO} build --release --locked --quiet -j 2
    WORKING_DIRECTORY ${LAB_IOX2_DIR}
    DEPENDS ${LAB_IOX2_DIR}/src/lib.rs ${LAB_IOX2_DIR}/Cargo.toml ${LAB_IOX2_DIR}/Cargo.lock
    COMMENT "cargo build iceoryx2" VERBATIM)
  add_custom_target(lab_iceoryx2_crate DEPENDS ${LAB_IOX2_LIB})
endif()
