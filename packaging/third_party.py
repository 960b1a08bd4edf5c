"""The software of others in the packages: the list third_party.toml, and texts made from it.

third_party.py text: prints THIRD-PARTY.
third_party.py copyright: prints the file `copyright` of the Debian packages, machine-readable.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
USES = {
    "linked": "Shared libraries",
    "compiled": "Code compiled into our programs",
    "python": "Python packages",
}
# The texts that binaries must reproduce beside a notice, by SPDX id. Some components have two.
_TEXTS = {path.stem: path.read_text().rstrip() for path in sorted(HERE.glob("licences/*.txt"))}

# Debian has the text of these, so that its packages refer to it.
_COMMON = {"Apache-2.0": "On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0."}
_BUILT = {
    "python/src/*": "the Python module",
    "view/*": "the viewer",
    "web/src/*": "the page of hyphos view --serve",
}


@dataclass(frozen=True)
class Component:
    """One entry of third_party.toml."""

    name: str
    licence: str
    link: str
    use: str
    source: str = ""
    debian: str = ""
    pypi: str = ""
    into: tuple[str, ...] = ()
    notice: str = ""
    npm: str = ""
    files: str = "python/src/*"  # of the source, that contain it when they are built

    @property
    def licences(self) -> list[str]:
        return self.licence.split(" AND ")

    def is_debian(self, package: str) -> bool:
        return bool(self.debian) and re.fullmatch(self.debian, package) is not None

    def is_pypi(self, package: str) -> bool:
        return self.use == "python" and (self.pypi or self.name).lower() == package.lower()


def components(file: Path = HERE / "third_party.toml") -> list[Component]:
    found = []
    for name, entry in tomllib.loads(file.read_text()).items():
        into = tuple(entry.pop("into", ()))
        found.append(Component(name, into=into, **entry))
    return found


def text() -> str:
    """The file THIRD-PARTY."""
    listed = components()
    parts = [
        "Third-party software in the packages of Hyphos\n"
        "==============================================\n\n"
        "packaging/third_party.py writes this file from packaging/third_party.toml. The source of\n"
        "Hyphos contains no third-party source. The Debian packages link the libraries of Debian.\n"
        "The wheels contain libraries, with the licence of each in their folder `licenses`. The\n"
        "SBOM beside the packages lists the versions."
    ]
    for use, title in USES.items():
        lines = [f"{title}\n{'-' * len(title)}\n"]
        for one in listed:
            if one.use == use:
                lines += [f"{one.name}\n  {one.licence}\n  {one.link}"]
        parts.append("\n".join(lines))
    title = "Notices"
    parts.append(f"{title}\n{'-' * len(title)}")
    for one in listed:
        if one.notice:
            texts = "\n\n".join(_TEXTS[licence] for licence in one.licences)
            parts.append(f"{one.name}: {one.licence}\n\n{one.notice}\n\n{texts}")
    return "\n\n".join(parts) + "\n"


def _indented(block: str) -> str:
    return "\n".join(f" {line}" if line.strip() else " ." for line in block.splitlines())


def copyright_file() -> str:
    """The file `copyright` of the packages, in Debian's machine-readable format."""
    licence = (ROOT / "LICENSE").read_text()
    holder = re.search(r"^Copyright \(c\) (.+)$", licence, re.MULTILINE)
    assert holder is not None
    parts = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        "Upstream-Name: hyphos\n"
        "Comment: The packages link the libraries in their field Depends. Code of the following\n"
        " projects is compiled into them: "
        + ", ".join(f"{one.name} ({one.licence})" for one in components() if one.use == "compiled"),
        f"Files: *\nCopyright: {holder[1]}\nLicense: MIT",
    ]
    noticed = [one for one in components() if one.notice]
    for files in dict.fromkeys(one.files for one in noticed):
        inside = [one for one in noticed if one.files == files]
        lines = [line for one in inside for line in one.notice.splitlines()]
        owners = "".join(f"\n {line.removeprefix('Copyright (c) ')}" for line in lines)
        names = " and ".join(one.name for one in inside)
        licences = sorted({"MIT", *(name for one in inside for name in one.licences)}, reverse=True)
        parts.append(
            f"Files: {files}\nCopyright: {holder[1]}{owners}\n"
            f"License: {' and '.join(licences)}\n"
            f"Comment: {names} are compiled into {_BUILT[files]}."
        )
    texts = _TEXTS | _COMMON
    parts += [f"License: {name}\n{_indented(texts[name])}" for name in sorted(_TEXTS)]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    made = {"text": text, "copyright": copyright_file}
    if len(sys.argv) != 2 or sys.argv[1] not in made:
        sys.exit(f"usage: {sys.argv[0]} text|copyright")
    sys.stdout.write(made[sys.argv[1]]())


if __name__ == "__main__":
    main()
