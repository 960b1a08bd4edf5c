# hyphos_pkg_modules(<prefix> <argument of pkg_check_modules>...)
#
# pkg_check_modules whose imported target has the same flags in every run of CMake. In its first
# run, CMake 3.25 moves -isystem of the flags to the include directories. In later runs it does not,
# so that the second run would change each command and compile everything again.
macro(hyphos_pkg_modules prefix)
  pkg_check_modules(${prefix} ${ARGN})
  if(TARGET PkgConfig::${prefix} AND "$CACHE{${prefix}_CFLAGS_OTHER}" MATCHES "-isystem")
    set_target_properties(PkgConfig::${prefix} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "$CACHE{${prefix}_INCLUDE_DIRS}"
      INTERFACE_COMPILE_OPTIONS "$CACHE{${prefix}_CFLAGS_OTHER}")
  endif()
endmacro()
