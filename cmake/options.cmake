# Flags for all targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# hyphos_batch(<target>...): a release and a build with sanitizers compile the sources of these
# targets in batches, because their headers take longer than the sources themselves. The core needs
# half the time. The other build types compile each source by itself, and so show a missing include.
function(hyphos_batch)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" OR HYPHOS_SANITIZE)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    foreach(target ${ARGN})
      # GCC takes an included source for a header, where unnamed namespaces are suspicious.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endforeach()
  endif()
endfunction()

# hyphos_batch_by_folder(<target>...): the same, with one batch for each folder, so that the name of
# an object file shows the room. Call it when the targets have all sources.
function(hyphos_batch_by_folder)
  hyphos_batch(${ARGN})
  foreach(target ${ARGN})
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    get_target_property(sources ${target} SOURCES)
    foreach(source ${sources})
      file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
      get_filename_component(folder ${path} DIRECTORY)
      string(REPLACE "/" "_" group ${folder})
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
    endforeach()
  endforeach()
endfunction()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(hyphos_flags INTERFACE)
target_compile_options(hyphos_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-align)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 falsely reports overlapping copies in std::string operator+ (its bug 105651).
  target_compile_options(hyphos_flags INTERFACE -Wno-restrict)
endif()

if(HYPHOS_SANITIZE)
  add_compile_options(-fsanitize=${HYPHOS_SANITIZE} -fno-omit-frame-pointer -g -O1)
  add_link_options(-fsanitize=${HYPHOS_SANITIZE})
  if(HYPHOS_SANITIZE MATCHES "thread")
    # With this macro, map_field.h of protobuf adds members that the library of the system lacks,
    # so that reading a map crashes. oneTBB needs it for its own headers.
    add_compile_options(-U__SANITIZE_THREAD__)
    add_compile_definitions(HYPHOS_THREAD_SANITIZER __TBB_USE_THREAD_SANITIZER=1)
  endif()
endif()
if(HYPHOS_BUILD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
