"""The libraries inside a wheel: Debian's sources, compiled for the oldest glibc of a wheel.

All are linked statically, so no symbol of them meets another copy in the process. Protobuf is the
exception. Messages pass between libraries, so one copy must serve them all. The wheel holds it
under a name of its own. OpenSSL comes compiled, because its static libraries suit glibc 2.31.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Library:
    """A source package of Debian, its licence files, and the way to build it."""

    package: str
    licences: tuple[str, ...]
    options: tuple[str, ...] = ()
    folder: str = "."  # of CMakeLists.txt
    build: Callable[[Library, Target, Path], object] | None = field(default=None)


@dataclass(frozen=True)
class Target:
    """The processor of a wheel, and the folders and environment of its build."""

    arch: str
    work: Path
    jobs: int
    environment: dict[str, str]

    @property
    def triplet(self) -> str:
        return f"{self.arch}-linux-gnu"

    @property
    def prefix(self) -> Path:
        return self.work / "prefix/usr"

    @property
    def sysroot(self) -> Path:
        return self.work / "sysroot"

    @property
    def link_flags(self) -> list[str]:
        """Those of toolchain.cmake, for links without CMake."""
        libraries = [f"{self.sysroot}/{folder}/{self.triplet}" for folder in ("usr/lib", "lib")]
        return [
            f"--sysroot={self.sysroot}", f"-B{libraries[0]}/", f"-L{self.work}/link",
            *(f"-L{folder}" for folder in libraries), "-s", "-Wl,--as-needed", "-Wl,--gc-sections",
        ]  # fmt: skip

    def run(self, *words: str | Path, cwd: Path | None = None) -> None:
        environment = {**os.environ, **self.environment}
        done = subprocess.run(
            words, cwd=cwd, env=environment, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode != 0:
            raise SystemExit(f"failed with {done.returncode}: {' '.join(map(str, words))}")


def _cmake(library: Library, target: Target, source: Path, *, goal: str = "install") -> Path:
    build = target.work / "build" / library.package
    target.run(
        "cmake", "-G", "Ninja", "-S", source / library.folder, "-B", build,
        f"-DCMAKE_TOOLCHAIN_FILE={Path(__file__).with_name('toolchain.cmake')}",
        f"-DCMAKE_INSTALL_PREFIX={target.prefix}", "-DCMAKE_INSTALL_LIBDIR=lib",
        "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_TESTING=OFF",
        "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
        "-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
        *library.options,
    )  # fmt: skip
    target.run("ninja", "-C", build, "-j", str(target.jobs), goal)
    return build


def _protobuf(library: Library, target: Target, source: Path) -> None:
    """Makes the shared library from the static one, to choose the name. Its smaller variant, which
    `install` would also build, is not needed."""
    build = _cmake(library, target, source, goal="libprotobuf")
    shared = target.prefix / "lib/libhyphos_protobuf.so.32"
    target.run(
        f"{target.triplet}-g++-12", *target.link_flags,
        "-shared", "-Wl,-z,now", f"-Wl,-soname,{shared.name}",
        "-Wl,--whole-archive", build / "libprotobuf.a", "-Wl,--no-whole-archive", "-lpthread",
        "-o", shared,
    )  # fmt: skip
    link = shared.with_name("libprotobuf.so")
    link.unlink(missing_ok=True)
    link.symlink_to(shared.name)
    for pattern in ("*.h", "*.inc"):
        for file in source.glob(f"src/google/protobuf/**/{pattern}"):
            place = target.prefix / "include" / file.relative_to(source / "src")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)


def _compile(target: Target, source: Path, name: str, files: list[Path], *flags: str) -> None:
    """Makes lib<name>.a of C files, for libraries without a usable CMakeLists.txt."""
    root = target.environment["HYPHOS_WHEEL_ROOT"]
    options = [f"--sysroot={target.sysroot}", "-O2", "-fPIC", "-fvisibility=hidden"]
    options += ["-ffunction-sections", f"-ffile-prefix-map={root}=.", f"-I{source}", *flags]
    objects = []
    for file in sorted(files):
        objects.append(target.work / "build" / f"{name}_{file.parent.name}_{file.stem}.o")
        compiler = f"{target.triplet}-gcc-12"
        target.run("ccache", compiler, *options, "-c", file, "-o", objects[-1])
    target.run(f"{target.triplet}-ar", "rcsD", target.prefix / f"lib/lib{name}.a", *objects)


def _zlib(library: Library, target: Target, source: Path) -> None:
    """Debian removes files that its CMakeLists.txt needs."""
    del library
    flags = ("-DHAVE_HIDDEN", "-DHAVE_UNISTD_H", "-D_LARGEFILE64_SOURCE=1")
    _compile(target, source, "z", list(source.glob("*.c")), *flags)
    for name in ("zlib.h", "zconf.h"):
        shutil.copy(source / name, target.prefix / "include")


def _libdeflate(library: Library, target: Target, source: Path) -> None:
    """Its makefile always builds programs as well."""
    del library
    files = [*source.glob("lib/*.c"), *source.glob("lib/*/cpu_features.c")]
    _compile(target, source, "deflate", files)
    shutil.copy(source / "libdeflate.h", target.prefix / "include")
    version = re.search(r'VERSION_STRING\s+"([^"]*)', (source / "libdeflate.h").read_text())
    assert version is not None
    text = (source / "libdeflate.pc.in").read_text()
    values = {"PREFIX": str(target.prefix), "VERSION": version[1]}
    values |= {"INCLUDEDIR": "${prefix}/include", "LIBDIR": "${prefix}/lib"}
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    (target.prefix / "lib/pkgconfig/libdeflate.pc").write_text(text)


def _libsodium(library: Library, target: Target, source: Path) -> None:
    build = target.work / "build" / library.package
    build.mkdir(parents=True, exist_ok=True)
    root = target.environment["HYPHOS_WHEEL_ROOT"]
    words = [
        str(source / "configure"), f"--host={target.triplet}", f"--prefix={target.prefix}",
        "--disable-shared", "--enable-static", "--with-pic", "--disable-dependency-tracking",
        "--disable-ssp", "--quiet",
        f"CC=ccache {target.triplet}-gcc-12 --sysroot={target.sysroot}",
        f"AR={target.triplet}-ar", "ARFLAGS=crD",
        f"CFLAGS=-O2 -ffile-prefix-map={root}=.", f"LDFLAGS={' '.join(target.link_flags)}",
    ]  # fmt: skip
    target.run(*words, cwd=build)
    target.run("make", "-s", f"-j{target.jobs}", "-C", "src", "install", cwd=build)
    target.run("make", "-s", "install-pkgconfigDATA", cwd=build)


LIBRARIES = (
    Library("zlib", ("LICENSE",), build=_zlib),
    Library(
        "libzstd", ("LICENSE",),
        ("-DZSTD_BUILD_PROGRAMS=OFF", "-DZSTD_BUILD_SHARED=OFF", "-DZSTD_BUILD_TESTS=OFF"),
        "build/cmake",
    ),
    Library(
        "lz4", ("lib/LICENSE",), ("-DLZ4_BUILD_CLI=OFF", "-DLZ4_BUILD_LEGACY_LZ4C=OFF"),
        "build/cmake",
    ),
    Library("libdeflate", ("COPYING",), build=_libdeflate),
    Library("pugixml", ("LICENSE.md",)),
    Library("simdjson", ("LICENSE",), ("-DSIMDJSON_DEVELOPER_MODE=OFF",)),
    Library("yaml-cpp", ("LICENSE",), ("-DYAML_CPP_BUILD_TESTS=OFF", "-DYAML_CPP_BUILD_TOOLS=OFF")),
    Library("libsodium", ("LICENSE",), build=_libsodium),
    Library(
        "zeromq3", ("COPYING", "COPYING.LESSER"),
        ("-DBUILD_SHARED=OFF", "-DBUILD_STATIC=ON", "-DBUILD_TESTS=OFF", "-DWITH_PERF_TOOL=OFF",
         "-DENABLE_CURVE=ON", "-DWITH_LIBSODIUM=ON", "-DWITH_LIBBSD=OFF", "-DWITH_DOCS=OFF",
         "-DENABLE_DRAFTS=OFF", "-DZMQ_BUILD_TESTS=OFF", "-DENABLE_WS=OFF", "-DWITH_TLS=OFF",
         "-DENABLE_CPACK=OFF"),
    ),
    Library(
        "onetbb", ("LICENSE.txt", "third-party-programs.txt"),
        ("-DTBB_TEST=OFF", "-DTBB_STRICT=OFF", "-DTBBMALLOC_BUILD=OFF",
         "-DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON", "-DTBB_VERIFY_DEPENDENCY_SIGNATURE=OFF"),
    ),
    Library(
        "protobuf", ("LICENSE",),
        ("-Dprotobuf_BUILD_TESTS=OFF", "-Dprotobuf_BUILD_PROTOC_BINARIES=OFF",
         "-Dprotobuf_WITH_ZLIB=OFF"),
        build=_protobuf,
    ),
)  # fmt: skip


def _merge_private_libraries(folder: Path) -> None:
    """Static linking needs the libraries that a .pc file lists as private."""
    for file in folder.glob("*.pc"):
        text = file.read_text()
        private = re.search(r"^Libs\.private:(.*)$", text, re.MULTILINE)
        if private is not None:
            words = [word for word in private[1].split() if word != "-lstdc++"]
            text = re.sub(r"^(Libs:.*)$", rf"\1 {' '.join(words)}", text, flags=re.MULTILINE)
        text = text.replace("Requires.private:", "Requires:")
        file.write_text(text)


def build(target: Target, sources: Path) -> None:
    """Builds each library once, and copies its licence. A built library has a stamp."""
    for folder in ("lib/pkgconfig", "include"):
        (target.prefix / folder).mkdir(parents=True, exist_ok=True)
    (target.work / "build").mkdir(exist_ok=True)
    for library in LIBRARIES:
        stamp = target.work / f"{library.package}.built"
        if stamp.exists():
            continue
        [source] = sources.glob(f"{library.package}-*/")
        (library.build or _cmake)(library, target, source)
        licences = target.work / "licences" / library.package
        licences.mkdir(parents=True, exist_ok=True)
        for name in library.licences:
            shutil.copy(source / name, licences / Path(name).name)
        _merge_private_libraries(target.prefix / "lib/pkgconfig")
        stamp.touch()
