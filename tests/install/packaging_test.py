"""The programs of packaging/: man pages, completion, licences, bill of materials, repacking."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import manpages
import pytest
import repack_debs
import sbom
import third_party
from hyphos.cli.main import make_app
from typer.main import get_command

ROOT = Path(__file__).resolve().parents[2]
EPOCH = 1_700_000_000
PROGRAMS = [ROOT / "build/release/node/hyphos-host", ROOT / "build/release/lab/hyphos-link"]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {page.name: page.text() for page in manpages.pages(PROGRAMS, EPOCH, "0.1.0")}


def commands(command: Any, name: str = "hyphos") -> list[str]:
    found = [name]
    for key, one in getattr(command, "commands", {}).items():
        if not one.hidden:
            found += commands(one, f"{name}-{key}")
    return found


def test_every_command_and_program_has_a_man_page(pages: dict[str, str]) -> None:
    expected = [*commands(get_command(make_app())), "hyphos-host", "hyphos-link"]
    assert sorted(pages) == sorted(expected)
    assert len(expected) > 80


def test_a_page_has_the_options_of_its_command(pages: dict[str, str]) -> None:
    page = pages["hyphos-channel-echo"]
    assert page.startswith('.TH HYPHOS-CHANNEL-ECHO 1 "2023-11-14" "Hyphos 0.1.0" "Hyphos"\n')
    assert "hyphos\\-channel\\-echo \\- Print messages as they arrive\n" in page
    assert ".TP\n\\fB\\-n, \\-\\-count N\\fR\nStop after this many messages." in page
    assert ".TP\n\\fBNAME\\fR\nChannel, e.g. scan." in page
    assert "\\fBhyphos\\-channel\\fR(1)" in page
    assert "hyphos-gateway PROTOCOL".replace("-", "\\-") in pages["hyphos-gateway"]
    assert "\\-\\-loss\\-burst PACKETS" in pages["hyphos-link"]


def test_pages_hold_no_placeholder_of_typer(pages: dict[str, str]) -> None:
    for name, page in pages.items():
        assert not re.search(r"list\[|<str>|<int|\{name\}", page), name


def test_each_link_of_a_page_leads_to_a_page(pages: dict[str, str]) -> None:
    for name, page in pages.items():
        for other in re.findall(r"\\fB([^\s]+)\\fR\(1\)", page):
            assert other.replace("\\-", "-") in pages, name


def test_text_is_no_request_of_roff() -> None:
    assert manpages.roff(".so /etc/passwd") == "\\&.so /etc/passwd"
    assert manpages.roff("'quoted'") == "\\&'quoted'"
    assert manpages.roff("a\\b --c `code`") == "a\\eb \\-\\-c \\fBcode\\fR"


@pytest.mark.skipif(shutil.which("man") is None, reason="no man")
def test_pages_render_without_a_warning(pages: dict[str, str], tmp_path: Path) -> None:
    for name in ("hyphos", "hyphos-run", "hyphos-lab-run", "hyphos-link", "hyphos-gateway"):
        file = tmp_path / f"{name}.1"
        file.write_text(pages[name])
        done = subprocess.run(
            ["man", "--warnings", "-E", "UTF-8", "-l", file],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert "NAME" in done.stdout
        assert done.stderr == ""


def test_completion_asks_the_installed_command() -> None:
    for shell in manpages.COMPLETION:
        script = manpages.completion(shell)
        assert f"_HYPHOS_COMPLETE=complete_{shell}" in script
        assert str(ROOT) not in script


def test_the_file_third_party_is_up_to_date() -> None:
    assert (ROOT / "THIRD-PARTY").read_text() == third_party.text(), (
        "run packaging/third_party.py text > THIRD-PARTY"
    )


def test_code_inside_our_programs_keeps_its_notice() -> None:
    texts = third_party.text(), third_party.copyright_file()
    compiled = [one for one in third_party.components() if one.use == "compiled"]
    names = {one.name for one in compiled}
    assert names == {
        *("Boost", "Eigen", "Dear ImGui", "DejaVu fonts", "nanobind", "robin-map"),
        *("three.js", "Protobuf-ES"),
    }
    for one in compiled:
        # The licence of Boost asks for no notice in binaries, and that of Eigen for the source.
        assert bool(one.notice) == (one.licence not in ("BSL-1.0", "MPL-2.0"))
        for text in texts:
            for line in one.notice.splitlines():
                assert line.removeprefix("Copyright (c) ") in text


def test_every_dependency_of_the_python_package_has_a_licence() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    lists = re.findall(
        r"^(?:dependencies|tools|ros|foxglove|lab|parquet) = \[(.*?)\]$", text, re.M | re.S
    )
    names = {name for found in lists for name in re.findall(r'"([A-Za-z0-9-]+)>', found)}
    assert {"numpy", "protobuf", "rich"} <= names
    for name in names:
        assert any(one.is_pypi(name) for one in third_party.components()), name


def problems(bill: dict[str, Any]) -> list[str]:
    """Violations of SPDX 2.3."""
    found = []
    for key in ("SPDXID", "name", "documentNamespace", "creationInfo", "packages", "relationships"):
        if not bill.get(key):
            found.append(f"no {key}")
    if (bill["spdxVersion"], bill["dataLicense"]) != ("SPDX-2.3", "CC0-1.0"):
        found.append("wrong version or licence of the document")
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["creationInfo"]["created"]):
        found.append("wrong time")
    ids = [bill["SPDXID"], *(one["SPDXID"] for one in bill["packages"])]
    if len(set(ids)) != len(ids):
        found.append("an SPDXID occurs twice")
    for one in bill["packages"]:
        if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one["SPDXID"]):
            found.append(f"invalid SPDXID {one['SPDXID']}")
        for key in ("name", "downloadLocation", "licenseConcluded", "licenseDeclared"):
            if not one.get(key):
                found.append(f"{one['SPDXID']} has no {key}")
    ends = {
        end
        for one in bill["relationships"]
        for end in (one["spdxElementId"], one["relatedSpdxElement"])
    }
    found += [f"unknown {end}" for end in sorted(ends - set(ids))]
    found += [f"{one} has no relationship" for one in ids if one not in ends]
    return found


def make_deb(folder: Path, name: str, depends: str, program: bool = False) -> Path:
    tree = folder / f"tree-{name}"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: 0.1.0-1\nArchitecture: amd64\nMaintainer: N <n@example.org>\n"
        f"Depends: {depends}\nDescription: x\n"
    )
    (tree / "DEBIAN/md5sums").write_text("1  usr/z\n2  usr/a\n")
    if program:
        shutil.copy("/bin/true", tree / "usr/bin/program")
    made = folder / f"{name}.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-b", tree, made], check=True, stdout=subprocess.DEVNULL
    )
    return made


def bill_of(paths: list[Path], kind: str) -> dict[str, Any]:
    made = sbom.document([sbom.KINDS[kind](path) for path in paths], "hyphos-test", EPOCH)
    assert problems(made) == []
    assert made == json.loads(json.dumps(made))
    return made


def related(bill: dict[str, Any], kind: str) -> set[tuple[str, str]]:
    names = {one["SPDXID"]: one["name"] for one in bill["packages"]} | {"SPDXRef-DOCUMENT": ""}
    return {
        (names[one["spdxElementId"]], names[one["relatedSpdxElement"]])
        for one in bill["relationships"]
        if one["relationshipType"] == kind
    }


@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf")
def test_the_bill_of_debian_packages_names_linked_libraries(tmp_path: Path) -> None:
    library = make_deb(tmp_path, "libhyphos0", "libc6 (>= 2.36)", program=True)
    tools = make_deb(tmp_path, "hyphos-tools", "libhyphos0 (= 0.1.0-1), python3-rich, cmake")
    bill = bill_of([library, tools], ".deb")
    assert related(bill, "DESCRIBES") == {("", "libhyphos0"), ("", "hyphos-tools")}
    assert related(bill, "DYNAMIC_LINK") == {("libhyphos0", "libc6")}
    assert ("hyphos-tools", "libhyphos0") in related(bill, "DEPENDS_ON")
    assert ("hyphos-tools", "python3-rich") in related(bill, "DEPENDS_ON")
    [libc] = [one for one in bill["packages"] if one["name"] == "libc6"]
    installed = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", "libc6"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert libc["versionInfo"] == installed.stdout
    assert libc["licenseDeclared"] == "LGPL-2.1-or-later"
    [first] = [one for one in bill["packages"] if one["name"] == "libhyphos0"]
    assert first["checksums"][0]["checksumValue"] == sbom.Artefact(library, "", "").sha256


def test_the_bill_of_a_wheel_names_contents_and_requirements(tmp_path: Path) -> None:
    wheel = tmp_path / "hyphos-0.1.0-cp311-cp311-manylinux_2_31_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        info = "hyphos-0.1.0.dist-info"
        file.writestr(
            f"{info}/METADATA",
            "Name: hyphos\nVersion: 0.1.0\nRequires-Dist: numpy>=1.24\n"
            "Requires-Dist: rosbags>=0.10; extra == 'ros'\n\nText\n",
        )
        libraries = [("zlib1g", "1:1.2.13"), ("libpgm-5.3-0", "5.3.128~dfsg-2")]
        components = [{"purl": "pkg:pypi/hyphos@0.1.0", "name": "hyphos", "version": "0.1.0"}]
        for name, version in libraries:
            purl = f"pkg:deb/debian/{name}@{version}"
            components.append({"purl": purl, "name": name, "version": version})
        file.writestr(f"{info}/sboms/auditwheel.cdx.json", json.dumps({"components": components}))
    bill = bill_of([wheel], ".whl")
    versions = {one["name"]: one.get("versionInfo") for one in bill["packages"]}
    assert [(name, versions[name]) for name, _ in libraries] == libraries
    assert {name for _, name in related(bill, "CONTAINS")} == {"zlib1g", "libpgm-5.3-0"}
    assert {name for _, name in related(bill, "DEPENDS_ON")} == {"numpy"}
    assert {name for _, name in related(bill, "STATIC_LINK")} == {
        "Boost",
        "Eigen",
        "nanobind",
        "robin-map",
        "three.js",
        "Protobuf-ES",
    }
    assert versions["three.js"] == "0.187.0"
    [nanobind] = [one for one in bill["packages"] if one["name"] == "nanobind"]
    assert f"nanobind=={nanobind['versionInfo']}\n" in (ROOT / "requirements.txt").read_text()


def test_software_without_a_licence_is_an_error(tmp_path: Path) -> None:
    wheel = tmp_path / "hyphos-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("hyphos-0.1.0.dist-info/METADATA", "Version: 0.1.0\nRequires-Dist: leftpad\n")
    with pytest.raises(SystemExit, match="leftpad is not in "):
        sbom.wheel_artefact(wheel)


def test_a_repacked_package_has_the_same_bits_at_any_time(tmp_path: Path) -> None:
    made = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        deb = make_deb(folder, "hyphos-tools", "libc6", program=True)
        tree = folder / "tree-hyphos-tools"
        when = EPOCH + 1000 * len(name)
        os.utime(tree / "usr/bin/program", (when, when))
        subprocess.run(["dpkg-deb", "-b", tree, deb], check=True, stdout=subprocess.DEVNULL)
        repack_debs.repack(deb, folder / "out", EPOCH)
        made.append((folder / "out/hyphos-tools.deb").read_bytes())
        listed = subprocess.run(
            ["dpkg-deb", "-c", folder / "out/hyphos-tools.deb"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "root/root" in listed.stdout
        assert "2023-11-14" in listed.stdout
    assert made[0] == made[1]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_the_source_archive_is_the_last_commit_and_reproducible(tmp_path: Path) -> None:
    archives = []
    for name in ("first", "second"):
        words = [ROOT / "packaging/source", tmp_path / name]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        archives.append(Path(done.stdout.strip()))
    first, second = archives
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes())
    with tarfile.open(first) as file:
        names = [Path(one) for one in file.getnames()]
    assert {one.parts[0] for one in names} == {first.name.removesuffix(".tar.gz")}
    assert Path(first.name.removesuffix(".tar.gz"), "CMakeLists.txt") in names
    assert not [one for one in names if ".git" in one.parts]
    assert bill_of([first], ".gz")["packages"][0]["versionInfo"] == "0.1.0"
