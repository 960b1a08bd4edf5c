"""packaging/wheel makes the same wheel from the same content, and finds each broken promise."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "packaging/wheel"
NAME = "hyphos-0.1.0-cp311-cp311-manylinux_2_35_x86_64.whl"
INFO = "hyphos-0.1.0.dist-info"
CONTENT = {
    "hyphos/py.typed": b"",
    "hyphos/__init__.py": b"import hyphos._hyphos\n",
    "hyphos/hyphos-host": b"#!/bin/sh\n",
    "hyphos/libhyphos.so.0": b"library",
    "hyphos/_hyphos.cpython-311-x86_64-linux-gnu.so": b"module",
    f"{INFO}/METADATA": b"Name: hyphos\nLicense-File: LICENSE\nVersion: 0.1.0\n\n# Readme\n",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nTag: cp311-cp311-linux_x86_64\n",
    f"{INFO}/entry_points.txt": b"[console_scripts]\nhyphos = hyphos.program:main\n\n"
    b"[pytest11]\nhyphos.testing.plugin = hyphos.testing.plugin\n",
    f"{INFO}/licenses/LICENSE": b"MIT",
    f"{INFO}/RECORD": b"of scikit-build-core",
}


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    sys.path.insert(0, str(FOLDER))
    try:
        import debian  # noqa: PLC0415
        import facts  # noqa: PLC0415
        import graft  # noqa: PLC0415
        import older  # noqa: PLC0415
        import repack  # noqa: PLC0415

        yield {"debian": debian, "facts": facts, "graft": graft, "older": older, "repack": repack}
    finally:
        sys.path.remove(str(FOLDER))


def make(
    modules: dict[str, ModuleType],
    folder: Path,
    *,
    reverse: bool = False,
    content: dict[str, bytes] | None = None,
    **changes: object,
) -> Path:
    """A wheel of CONTENT and further content, whose order is given in the raw wheel."""
    raw, out = folder / "raw.whl", folder / NAME
    files = {**CONTENT, **(content or {})}
    with zipfile.ZipFile(raw, "w") as archive:
        for number, (name, data) in enumerate(sorted(files.items(), reverse=reverse)):
            archive.writestr(zipfile.ZipInfo(name, (2000 + number, 1, 1, 0, 0, 0)), data)
    arguments = {
        "tag": "cp311-cp311-manylinux_2_35_x86_64",
        "licences": {"THIRD-PARTY/zlib/LICENSE": b"zlib"},
        "epoch": 1_800_000_000,
        **changes,
    }
    modules["repack"].repack(raw, out, **arguments)
    return out


def test_the_order_and_the_times_of_the_raw_wheel_do_not_matter(
    modules: dict[str, ModuleType], tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = make(modules, tmp_path / "a").read_bytes()
    assert make(modules, tmp_path / "b", reverse=True).read_bytes() == first
    assert make(modules, tmp_path / "b", epoch=1_700_000_000).read_bytes() != first


def test_a_wheel_keeps_its_promises(modules: dict[str, ModuleType], tmp_path: Path) -> None:
    wheel = make(modules, tmp_path)
    assert modules["facts"].problems(wheel) == []
    with zipfile.ZipFile(wheel) as archive:
        assert archive.namelist()[-1] == f"{INFO}/RECORD"
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
        metadata = archive.read(f"{INFO}/METADATA").decode()
    assert modes["hyphos/hyphos-host"] == 0o100755
    assert modes["hyphos/py.typed"] == 0o100644
    assert "License-File: LICENSE\nLicense-File: THIRD-PARTY/zlib/LICENSE\nVersion" in metadata
    assert metadata.endswith("\n\n# Readme\n")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"tag": "cp311-cp311-linux_x86_64"}, "WHEEL has the tags"),
        ({"licences": {}}, "the licences of the libraries are missing"),
        ({"content": {"hyphos/_hyphos.abi3.so": b""}}, "do not match the tag cp311"),
    ],
)
def test_a_broken_promise_is_found(
    modules: dict[str, ModuleType], tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    found = modules["facts"].problems(make(modules, tmp_path, **changes))
    assert any(problem in text for text in found), found


def test_a_damaged_file_is_found(modules: dict[str, ModuleType], tmp_path: Path) -> None:
    wheel = make(modules, tmp_path)
    damaged = tmp_path / "damaged" / NAME
    damaged.parent.mkdir()
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(damaged, "w") as target:
        for entry in source.infolist():
            data = source.read(entry)
            target.writestr(entry, data + b"x" if entry.filename.endswith("host") else data)
    assert modules["facts"].problems(damaged) == ["RECORD is wrong about hyphos/hyphos-host"]


def test_a_program_that_needs_a_newer_glibc_is_found(
    modules: dict[str, ModuleType], tmp_path: Path
) -> None:
    """The Python that runs this test needs at least glibc 2.2.5."""
    program = Path(sys.executable).resolve().read_bytes()
    wheel = make(modules, tmp_path, content={"hyphos/program": program})
    old = wheel.rename(tmp_path / NAME.replace("2_35", "2_1"))
    found = modules["facts"].problems(old)
    assert any(text.startswith("hyphos/program: needs glibc 2.") for text in found), found


def test_libraries_of_another_processor_have_licences_and_a_bill(
    modules: dict[str, ModuleType], tmp_path: Path
) -> None:
    """The list of a sysroot replaces dpkg, which knows only the packages of this machine."""
    owners = {
        "libpgm-5.3.so.0.0.128": ("libpgm-5.3-0", "5.3.128~dfsg-2", "libpgm"),
        "libzmq.so.5.2.4": ("libzmq5", "4.3.4-6", "zeromq3"),
        "libother.so.1": ("libother1", "1", "other"),
    }
    listed = {
        name: dict(zip(("package", "version", "source"), owner, strict=True))
        for name, owner in owners.items()
    }
    (tmp_path / modules["debian"].OWNERS).write_text(json.dumps(listed))
    for package, _, _ in owners.values():
        documents = tmp_path / "usr/share/doc" / package
        documents.mkdir(parents=True)
        (documents / "copyright").write_text(f"licence of {package}")
    grafted = tmp_path / NAME.replace("x86_64", "aarch64")
    with zipfile.ZipFile(grafted, "w") as archive:
        for name in ("libpgm-5-86a31e6b.3.so.0.0.128", "libzmq-98f0defc.so.5.2.4"):
            archive.writestr(f"hyphos.libs/{name}", b"library")
    licences, added = modules["graft"].describe(grafted, tmp_path)
    assert licences == {
        "THIRD-PARTY/libpgm/copyright": b"licence of libpgm-5.3-0",
        "THIRD-PARTY/zeromq3/copyright": b"licence of libzmq5",
    }
    wheel = make(modules, tmp_path, added=added)
    assert modules["graft"].packages(wheel) == {
        "libpgm-5.3-0": "5.3.128~dfsg-2",
        "libzmq5": "4.3.4-6",
    }
    assert "RECORD is wrong" not in "".join(modules["facts"].problems(wheel))


def test_a_library_that_no_package_of_the_sysroot_has_is_an_error(
    modules: dict[str, ModuleType], tmp_path: Path
) -> None:
    (tmp_path / modules["debian"].OWNERS).write_text("{}")
    with zipfile.ZipFile(tmp_path / NAME, "w") as archive:
        archive.writestr("hyphos.libs/libzmq-98f0defc.so.5.2.4", b"library")
    with pytest.raises(SystemExit, match=r"libzmq\.so\.5\.2\.4 is in no package"):
        modules["graft"].describe(tmp_path / NAME, tmp_path)


def library(folder: Path, text: str) -> Path:
    """A shared library of this C code."""
    (folder / "code.c").write_text(text)
    made = folder / "libcode.so"
    words = ["cc", "-shared", "-fPIC", "-fno-builtin", "-o", str(made), str(folder / "code.c")]
    subprocess.run([*words, "-lm"], check=True)
    return made


def needs(path: Path) -> str:
    words = ["readelf", "--wide", "--version-info", str(path)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


# `free` brings the name of the older version into the table of strings.
HYPOT = """
void free(void *);
double hypot(double, double);
double far(double a, double b) { free(0); return hypot(a, b); }
"""
CLASH = "int _dl_find_object(void *, void *);\nint look(void) { return _dl_find_object(0, 0); }\n"


@pytest.fixture
def old_hypot(modules: dict[str, ModuleType], tmp_path: Path) -> Path:
    made = library(tmp_path, HYPOT)
    if "Name: GLIBC_2.35" not in needs(made):
        pytest.skip("this glibc has no hypot of version 2.35")
    made.write_bytes(modules["older"].bind_older(made.read_bytes()))
    return made


def test_a_function_with_an_older_version_is_bound_to_it(old_hypot: Path) -> None:
    assert "GLIBC_2.35" not in needs(old_hypot)
    program = (
        "import ctypes, sys\nfar = ctypes.CDLL(sys.argv[1]).far\n"
        "far.restype, far.argtypes = ctypes.c_double, [ctypes.c_double] * 2\nprint(far(3, 4))"
    )
    words = [sys.executable, "-c", program, str(old_hypot)]
    environment = {**os.environ, "LD_BIND_NOW": "1"}
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=environment)
    assert done.stdout == "5.0\n"


def test_a_new_version_with_any_other_function_stays(
    old_hypot: Path, modules: dict[str, ModuleType], tmp_path: Path
) -> None:
    """Both functions are of version 2.35, one of libm and one of libc."""
    del old_hypot
    made = library(tmp_path, HYPOT + CLASH)
    made.write_bytes(modules["older"].bind_older(made.read_bytes()))
    found = needs(made)
    assert found.count("Name: GLIBC_2.35") == 1
    assert found.index("File: libc.so.6") < found.index("Name: GLIBC_2.35")


def test_a_program_without_room_for_the_older_name_stays(
    modules: dict[str, ModuleType], tmp_path: Path
) -> None:
    made = library(tmp_path, "void free(void *);\nvoid drop(void *one) { free(one); }\n")
    program = modules["older"]._Program(made.read_bytes())
    for entry, _, name in program.versions():
        program.rename(entry, f"{name}.100")
    assert bytes(program.data) == made.read_bytes()
    for entry, _, name in program.versions():
        program.rename(entry, name[:-1] + "0")
    assert bytes(program.data) != made.read_bytes()
