# For Linux on arm64, from any Linux with aarch64-linux-gnu-g++ (Debian: g++-aarch64-linux-gnu):
# -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/linux-arm64.cmake -DCMAKE_SYSROOT=… . docs/client_csharp.md
# has the commands, that of the sysroot as well. Give its full path.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Programs are of the machine that builds (protoc), all else is of the one that it is for.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# pkg-config is asked outside of cmake: it must not see the packages of this machine.
set(ENV{PKG_CONFIG_LIBDIR}
    "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
# A build of a part (try_compile) reads this file anew.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CMAKE_SYSROOT)
find_program(HYPHOS_EMULATOR NAMES qemu-aarch64 qemu-aarch64-static)
if(HYPHOS_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${HYPHOS_EMULATOR};-L;${CMAKE_SYSROOT}")
endif()
