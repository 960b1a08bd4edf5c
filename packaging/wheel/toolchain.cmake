# Compiles for an older glibc than that of the build root, or for another processor. packaging/wheels
# sets HYPHOS_WHEEL_ARCH (x86_64 or aarch64) and HYPHOS_WHEEL_WORK, the folder of that processor.
set(arch $ENV{HYPHOS_WHEEL_ARCH})
set(work $ENV{HYPHOS_WHEEL_WORK})
set(triplet ${arch}-linux-gnu)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${arch})
set(CMAKE_LIBRARY_ARCHITECTURE ${triplet})
set(CMAKE_C_COMPILER ${triplet}-gcc-12)
set(CMAKE_CXX_COMPILER ${triplet}-g++-12)
set(CMAKE_SYSROOT ${work}/sysroot)

# The C++ headers of the compiler, with the C headers of the sysroot.
set(headers /usr/include/c++/12)
set(headers_of_arch /usr/include/${triplet}/c++/12)
if(NOT arch STREQUAL "x86_64")
  set(headers /usr/${triplet}/include/c++/12)
  set(headers_of_arch /usr/${triplet}/include/c++/12/${triplet})
endif()
set(CMAKE_CXX_FLAGS_INIT "-nostdinc++ -isystem ${headers} -isystem ${headers_of_arch}")
set(root $ENV{HYPHOS_WHEEL_ROOT})
set(common "-ffile-prefix-map=${root}=. -ffunction-sections -fdata-sections")
string(APPEND CMAKE_C_FLAGS_INIT " ${common}")
string(APPEND CMAKE_CXX_FLAGS_INIT " ${common}")

# ${work}/link holds the linker scripts of packaging/wheel/sysroot.py. GCC would look for the C library
# of the build root before that of the sysroot, hence -B and -L. All symbols of static libraries
# become local, so that they meet no other copy in the process.
set(folders "-B${CMAKE_SYSROOT}/usr/lib/${triplet}/ -L${work}/link")
string(APPEND folders " -L${CMAKE_SYSROOT}/usr/lib/${triplet} -L${CMAKE_SYSROOT}/lib/${triplet}")
set(link "${folders} -s -Wl,--exclude-libs,ALL -Wl,--as-needed -Wl,--gc-sections")
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${link})
set(CMAKE_MODULE_LINKER_FLAGS_INIT ${link})
set(CMAKE_EXE_LINKER_FLAGS_INIT ${link})
# glibc has had these in libc only since 2.34.
set(CMAKE_C_STANDARD_LIBRARIES "-lpthread -ldl -lrt")
set(CMAKE_CXX_STANDARD_LIBRARIES "-lpthread -ldl -lrt")

set(CMAKE_FIND_ROOT_PATH ${work}/prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(ENV{PKG_CONFIG_LIBDIR} ${work}/prefix/usr/lib/pkgconfig)
