# For Linux on arm64, from any Linux with aarch64-linux-gnu-g++ (Debian: g++-aarch64-linux-gnu):
# -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/linux-arm64.cmake -DCMAKE_SYSROOT=… . The sysroot must be a
# full path. docs/how-to/client_csharp.md has the commands, including the one for the sysroot.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Programs (protoc) belong to the build machine, everything else to the target machine.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# pkg-config runs outside of cmake, so it must be kept from using the packages of this machine.
set(ENV{PKG_CONFIG_LIBDIR}
    "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
# try_compile reads this file again.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CMAKE_SYSROOT)
find_program(HYPHOS_EMULATOR NAMES qemu-aarch64 qemu-aarch64-static)
if(HYPHOS_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${HYPHOS_EMULATOR};-L;${CMAKE_SYSROOT}")
endif()
