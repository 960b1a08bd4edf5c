"""The cross build of wheels for aarch64: a folder with Debian's libraries of that processor."""

from __future__ import annotations

import re
from pathlib import Path

import debian

ROOT = Path(__file__).resolve().parents[2]
SUITE = "bookworm"
MACHINE = "aarch64"
# Of the compiler that builds for this processor.
RUNTIME = ("libc6-dev", "libstdc++-12-dev")


def libraries() -> list[str]:
    """The development packages of packages.txt that a wheel needs."""
    text = (ROOT / "packages.txt").read_text()
    names = []
    for section in ("core", "record", "gateway"):
        found = re.search(rf"^\[{section}\]\n(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
        if found is None:
            raise SystemExit(f"packages.txt has no section [{section}]")
        names += re.findall(r"^\S+-dev$", found[1], re.MULTILINE)
    return sorted(set(names))


def sysroot(cache: Path) -> Path:
    return debian.tree(cache, SUITE, MACHINE, [*RUNTIME, *libraries()])


def definitions(source: Path, root: Path) -> dict[str, str]:
    """The settings of CMake for a cross build in the folder of the source."""
    [nanobind] = source.glob(".venv/lib/python*/site-packages/nanobind/cmake")
    return {
        "CMAKE_TOOLCHAIN_FILE": str(source / "cmake/toolchains/linux-arm64.cmake"),
        "CMAKE_SYSROOT": str(root),
        # Headers put their paths into messages, and the bits must not depend on this folder.
        "CMAKE_C_FLAGS": f"-ffile-prefix-map={root}=",
        "CMAKE_CXX_FLAGS": f"-ffile-prefix-map={root}=",
        "Protobuf_PROTOC_EXECUTABLE": "/usr/bin/protoc",
        "nanobind_DIR": str(nanobind),  # sources, so it is the same for all processors
    }


def library_folders(root: Path) -> list[Path]:
    triplet = f"{MACHINE}-linux-gnu"
    return [root / folder / triplet for folder in ("lib", "usr/lib")]
