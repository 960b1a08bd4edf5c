# The Rust crates of some peers. Their sources come from the crate registry, so these peers are
# missing if the registry cannot be reached.
find_program(LAB_CARGO cargo)

# hyphos_lab_crate(<peer> <lowest version of cargo>): sets <peer>_crate_FOUND, <peer>_crate_LIBRARY
# and the target lab_<peer>_crate, from peers/<peer>/.
function(hyphos_lab_crate peer lowest)
  set(${peer}_crate_FOUND FALSE PARENT_SCOPE)
  if(NOT LAB_CARGO)
    return()
  endif()
  execute_process(COMMAND ${LAB_CARGO} --version OUTPUT_VARIABLE version)
  string(REGEX MATCH "[0-9]+\\.[0-9]+" version "${version}")
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/peers/${peer})
  if(version VERSION_LESS lowest)
    return()
  endif()
  execute_process(COMMAND ${LAB_CARGO} fetch --locked --quiet WORKING_DIRECTORY ${dir}
    RESULT_VARIABLE result ERROR_QUIET TIMEOUT 180)
  if(NOT result EQUAL 0)
    return()
  endif()
  set(target_dir ${CMAKE_CURRENT_BINARY_DIR}/cargo)
  set(library ${target_dir}/release/liblab_${peer}.a)
  add_custom_command(OUTPUT ${library}
    COMMAND ${CMAKE_COMMAND} -E env CARGO_TARGET_DIR=${target_dir}
      ${LAB_CARGO} build --release --locked --quiet -j 2
    WORKING_DIRECTORY ${dir}
    DEPENDS ${dir}/src/lib.rs ${dir}/Cargo.toml ${dir}/Cargo.lock
    COMMENT "cargo build ${peer}" VERBATIM)
  add_custom_target(lab_${peer}_crate DEPENDS ${library})
  file(STRINGS ${dir}/Cargo.toml pinned REGEX "^${peer} = ")
  string(REGEX MATCH "[0-9]+(\\.[0-9]+)+" pinned "${pinned}")
  set(${peer}_crate_VERSION ${pinned} PARENT_SCOPE)
  set(${peer}_crate_FOUND TRUE PARENT_SCOPE)
  set(${peer}_crate_LIBRARY ${library} PARENT_SCOPE)
endfunction()

file(GLOB LAB_LIBCLANG /usr/lib/llvm-*/lib/libclang-[0-9]*.so* /usr/lib/llvm-*/lib/libclang.so*)
if(LAB_LIBCLANG)
  hyphos_lab_crate(iceoryx2 1.89)
endif()
hyphos_lab_crate(zenoh 1.89)
