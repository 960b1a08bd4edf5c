"""A second run of CMake changes no command, so that it compiles nothing again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = f"""cmake_minimum_required(VERSION 3.22)
project(one LANGUAGES CXX)
find_package(PkgConfig REQUIRED)
include({ROOT}/cmake/pkg_config.cmake)
hyphos_pkg_modules(THING REQUIRED IMPORTED_TARGET thing)
add_library(one one.cpp)
target_link_libraries(one PRIVATE PkgConfig::THING)
"""
THING = """Name: thing
Description: as libzmq of Debian
Version: 1
Cflags: -isystem ${pcfiledir}/deep -I${pcfiledir}/flat -DTHING
"""


def commands(folder: Path) -> list[str]:
    """The flags of each compilation after a run of CMake."""
    environment = os.environ | {"PKG_CONFIG_PATH": str(folder)}
    words = ["cmake", "-G", "Ninja", "-S", str(folder), "-B", str(folder / "build")]
    subprocess.run(words, check=True, capture_output=True, env=environment)
    lines = (folder / "build/build.ninja").read_text().splitlines()
    return [line for line in lines if line.startswith(("  FLAGS =", "  INCLUDES =", "  DEFINES ="))]


def test_flags_of_a_package_are_the_same_in_each_run(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    (tmp_path / "one.cpp").write_text("")
    (tmp_path / "thing.pc").write_text(THING)
    (tmp_path / "deep").mkdir()
    (tmp_path / "flat").mkdir()
    first = commands(tmp_path)
    assert commands(tmp_path) == first
    text = " ".join(first)
    assert f"-isystem {tmp_path}/deep" in text
    assert f"{tmp_path}/flat" in text
    assert "-DTHING" in text
