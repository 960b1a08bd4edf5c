"""Binds functions to the version that older systems have as well.

A new version of a function has the same parameters. It differs in cases that Hyphos does not use. A
program names the version that its linker found, so a system without that version refuses the
program. Only the name of the version changes, never code.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine
# Of each new version, the only functions that may use it, and the older version by processor.
# `hypot` no longer calls the error handler of SVID. `wait` lets a thread be cancelled.
WAIT = "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"
OLDER = {
    "GLIBC_2.35": ({"hypot", "hypotf"}, {"x86_64": "GLIBC_2.2.5", "aarch64": "GLIBC_2.17"}),
    "GLIBCXX_3.4.30": ({WAIT}, {"x86_64": "GLIBCXX_3.4.11", "aarch64": "GLIBCXX_3.4.11"}),
}
_DYNSYM, _VERNEED, _VERSYM = 11, 0x6FFFFFFE, 0x6FFFFFFF


@dataclass(frozen=True)
class _Section:
    kind: int
    offset: int
    size: int
    link: int


class _Program:
    """A 64-bit little-endian ELF file."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)
        self.machine = MACHINES.get(self._at("<H", 18)[0], "")
        table, size, count = self._at("<Q", 40)[0], *self._at("<HH", 58)
        self._sections = []
        for at in range(table, table + size * count, size):
            _, kind, _, _, offset, length, link = self._at("<IIQQQQI", at)
            self._sections.append(_Section(kind, offset, length, link))

    def _at(self, form: str, offset: int) -> tuple[int, ...]:
        return struct.unpack_from(form, self.data, offset)

    def _section(self, kind: int) -> _Section | None:
        return next((one for one in self._sections if one.kind == kind), None)

    def _text(self, offset: int) -> str:
        return self.data[offset : self.data.index(0, offset)].decode()

    def versions(self) -> Iterator[tuple[int, int, str]]:
        """The needed versions: place of the entry, index of the version, name."""
        needs = self._section(_VERNEED)
        if needs is None:
            return
        strings = self._sections[needs.link].offset
        at = needs.offset
        while True:
            _, count, _, first, following = self._at("<HHIII", at)
            entry = at + first
            for _ in range(count):
                _, _, index, name, step = self._at("<IHHII", entry)
                yield entry, index, self._text(strings + name)
                entry += step
            if not following:
                return
            at += following

    def users(self, index: int) -> set[str]:
        """The symbols with this index of a version."""
        symbols, versions = self._section(_DYNSYM), self._section(_VERSYM)
        assert symbols is not None
        assert versions is not None
        strings = self._sections[symbols.link].offset
        found = set()
        for number in range(symbols.size // 24):
            if self._at("<H", versions.offset + 2 * number)[0] & 0x7FFF == index:
                name = self._at("<I", symbols.offset + 24 * number)[0]
                found.add(self._text(strings + name))
        return found

    def rename(self, entry: int, name: str) -> None:
        """Gives an entry another version. Changes nothing if the table of strings has no such name
        and the present name has another length."""
        needs = self._section(_VERNEED)
        assert needs is not None
        strings = self._sections[needs.link]
        table = bytes(self.data[strings.offset : strings.offset + strings.size])
        place = table.find(name.encode() + b"\0")  # the end of a longer string serves as well
        if place < 0:
            place = self._at("<I", entry + 8)[0]
            start = strings.offset + place
            if len(self._text(start)) != len(name):
                return
            self.data[start : start + len(name)] = name.encode()
        struct.pack_into("<I", self.data, entry, _hash(name))
        struct.pack_into("<I", self.data, entry + 8, place)


def _hash(name: str) -> int:
    """The hash of names in the System V ABI."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high
    return value & 0xFFFFFFFF


def bind_older(data: bytes) -> bytes:
    """The program with older versions, wherever all functions of a new version are in OLDER."""
    program = _Program(data)
    for entry, index, name in list(program.versions()):
        if name in OLDER and program.machine:
            functions, older = OLDER[name]
            if program.users(index) <= functions:
                program.rename(entry, older[program.machine])
    return bytes(program.data)


def rewrite(wheel: Path, out: Path) -> None:
    """Copies a wheel with older versions. Its RECORD is then wrong."""
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(out, "w") as target:
        for info in source.infolist():
            data = source.read(info)
            target.writestr(info, bind_older(data) if data.startswith(b"\x7fELF") else data)
