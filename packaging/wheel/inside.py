"""Builds the wheels of one processor. packaging/wheels runs it in the build root.

inside.py ARCH ROOT JOBS: ROOT holds the folder `source`. The wheels go to ROOT/dist. The folder
/downloads keeps the packages of Debian between builds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import libraries
import repack
import sysroot
from libraries import Target

HERE = Path(__file__).parent
DOWNLOADS = Path("/downloads")
TOOLS = Path("/opt/tools/bin")
# The Python of a wheel, and the suite with its headers. TAGS names the wheel of each.
HEADERS = {"3.11": "bookworm", "3.13": "trixie"}


def fetch_sources() -> Path:
    """Downloads and unpacks the sources of the libraries, with Debian's patches."""
    folder = DOWNLOADS / "sources"
    folder.mkdir(exist_ok=True)
    missing = [x.package for x in libraries.LIBRARIES if not list(folder.glob(f"{x.package}-*/"))]
    if missing:
        subprocess.run(["apt-get", "-qq", "update"], check=True)
        words = ["apt-get", "-qq", "-oAPT::Sandbox::User=root", "source", *missing]
        subprocess.run(words, cwd=folder, check=True)
    return folder


def python_headers(version: str, target: Target) -> Path:
    """The headers of one Python in one folder, with the configuration of the processor."""
    out = target.work / f"python{version}"
    if not out.exists():
        unpacked = target.work / f"unpacked{version}"
        package = sysroot.fetch(
            DOWNLOADS, HEADERS[version], target.arch, (f"libpython{version}-dev",)
        )
        sysroot.unpack(package, unpacked)
        include = unpacked / "usr/include"
        shutil.copytree(include / f"python{version}", out)
        shutil.copy(include / target.triplet / f"python{version}/pyconfig.h", out)
    return out


def add_compiled_packages(target: Target) -> None:
    """Boost is headers. OpenSSL is static libraries, with the security updates of Debian."""
    stamp = target.work / "compiled.added"
    if stamp.exists():
        return
    unpacked = target.work / "unpacked"
    sources = {"libboost1.74-dev": "boost", "libssl-dev": "openssl"}
    packages = sysroot.fetch(DOWNLOADS, "bookworm", target.arch, tuple(sources))
    sysroot.unpack(packages, unpacked)
    include = target.prefix / "include"
    shutil.copytree(unpacked / "usr/include/boost", include / "boost", dirs_exist_ok=True)
    for folder in ("usr/include/openssl", f"usr/include/{target.triplet}/openssl"):
        shutil.copytree(unpacked / folder, include / "openssl", dirs_exist_ok=True)
    for name in ("libssl.a", "libcrypto.a"):
        shutil.copy(unpacked / "usr/lib" / target.triplet / name, target.prefix / "lib")
    for package, source in sources.items():
        licences = target.work / "licences" / source
        licences.mkdir(parents=True, exist_ok=True)
        shutil.copy(unpacked / "usr/share/doc" / package / "copyright", licences)
    stamp.touch()


def build_raw(version: str, target: Target, source: Path) -> Path:
    """The wheel of scikit-build-core."""
    folder = target.work / "raw" / version
    shutil.rmtree(folder, ignore_errors=True)
    defines = {
        "CMAKE_TOOLCHAIN_FILE": HERE / "toolchain.cmake",
        "CMAKE_MODULE_PATH": HERE,
        "CMAKE_BUILD_WITH_INSTALL_RPATH": "ON",
        "CMAKE_INSTALL_RPATH": "$ORIGIN",
        "HYPHOS_PYTHON_VERSION": version,
        "HYPHOS_PYTHON_INCLUDE": python_headers(version, target),
        "Protobuf_PROTOC_EXECUTABLE": "/usr/bin/protoc",
        "OPENSSL_USE_STATIC_LIBS": "ON",
        # Its code in glibc before 2.40 destroys vector registers (bug 31372 of glibc).
        "NB_HAS_MTLS_GNU2": "OFF",
    }
    settings = {f"cmake.define.{name}": value for name, value in defines.items()}
    settings |= {
        "build-dir": f"{target.work}/build/hyphos",
        "backport.find-python": "0",
        "build.tool-args": f"-j{target.jobs}",
    }
    words = [f"--config-settings={name}={value}" for name, value in settings.items()]
    words += ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    target.run(TOOLS / "pip", "wheel", "--verbose", source, *words)
    [path] = folder.glob("*.whl")
    return path


def third_party(target: Target) -> dict[str, bytes]:
    folder = target.work / "licences"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {f"THIRD-PARTY/{path.relative_to(folder)}": path.read_bytes() for path in files}


def main() -> None:
    arch, root, jobs = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    work, source, dist = root / arch, root / "source", root / "dist"
    environment = {
        "HYPHOS_WHEEL_ARCH": arch, "HYPHOS_WHEEL_WORK": str(work), "HYPHOS_WHEEL_ROOT": str(root),
        "CCACHE_NOHASHDIR": "1", "CMAKE_GENERATOR": "Ninja",
        "PKG_CONFIG_LIBDIR": f"{work}/prefix/usr/lib/pkgconfig",
    }  # fmt: skip
    target = Target(arch, work, jobs, environment)
    work.mkdir(exist_ok=True)
    dist.mkdir(exist_ok=True)
    sysroot.make(arch, work, DOWNLOADS)
    libraries.build(target, fetch_sources())
    add_compiled_packages(target)
    protobuf = "libhyphos_protobuf.so.32"
    added = {f"hyphos/{protobuf}": (target.prefix / "lib" / protobuf).read_bytes()}
    for version in HEADERS:
        raw = build_raw(version, target, source)
        project = "-".join(raw.name.split("-")[:2])
        path = dist / repack.wheel_name(project, version, arch, sysroot.GLIBC)
        tag = "-".join(path.stem.split("-")[2:])
        repack.repack(
            raw, path, tag=tag, added=added, licences=third_party(target),
            epoch=int(os.environ["SOURCE_DATE_EPOCH"]),
        )  # fmt: skip
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB", flush=True)
        target.run(TOOLS / "auditwheel", "show", path)


if __name__ == "__main__":
    main()
