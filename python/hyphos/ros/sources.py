"""Finds definitions: PACKAGE/msg/*.msg, PACKAGE/srv/*.srv, PACKAGE/action/*.action."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hyphos._errors import Error
from hyphos.ros.definition import PARTS, Flavour, Name

_PACKAGE_NAME = re.compile(r"<name>\s*([A-Za-z][A-Za-z0-9_]*)\s*</name>")

# Marks of only one of the two versions. `#` starts a comment.
_ROS1_BUILD = re.compile(r">\s*(message_generation|message_runtime|catkin)\s*<")
_ROS2_BUILD = re.compile(r">\s*(rosidl_\w+|ament_cmake)\s*<")
_ROS1_LINE = re.compile(
    r"^[ \t]*((time|duration|Header)(\[\d*\])?[ \t]+\w"
    r"|[\w/]+(\[\d*\])?[ \t]+\w*[A-Z]\w*[ \t]*(#|\r?$))",
    re.MULTILINE,
)
_ROS2_LINE = re.compile(r"^[ \t]*(builtin_interfaces/|wstring\b|[^#\n]*<=)", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A file. `asked` is False if it is only beside a requested file."""

    name: Name
    path: Path
    asked: bool

    @property
    def package_folder(self) -> Path:
        return self.path.parent.parent


def find_sources(paths: Iterable[Path]) -> dict[Name, Source]:
    """All definitions in packages, folders of packages and single files."""
    found: dict[Name, Source] = {}
    for path in paths:
        for source in _sources(path):
            known = found.get(source.name)
            if known is not None and known.path.resolve() != source.path.resolve():
                _refuse_other(known, source)
            if known is None or not known.asked:
                found[source.name] = source
    return found


def read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise Error(
            "invalid_config", "the file is not UTF-8", f"{path}:{line}", "save the file as UTF-8"
        ) from None
    except OSError as error:
        raise Error("not_found", f"cannot read the file: {error.strerror}", str(path)) from None


def guess_flavour(sources: Iterable[Source]) -> Flavour:
    """Detects the ROS version from package.xml, else from the contents of the files."""
    seen: dict[Flavour, Path] = {}
    folders: dict[Path, set[Flavour]] = {}
    for source in sources:
        if source.package_folder not in folders:
            folders[source.package_folder] = _flavours_of_package(source.package_folder)
        told = folders[source.package_folder] or _flavours_of_text(read_text(source.path))
        for flavour in told:
            seen.setdefault(flavour, source.path)
    if len(seen) == 1:
        return next(iter(seen))
    if seen:
        raise Error(
            "invalid_config",
            f"{seen[Flavour.ROS1]} looks like ROS 1, {seen[Flavour.ROS2]} like ROS 2",
            advice="import them one after the other, with --ros1 and with --ros2",
        )
    raise Error(
        "invalid_config",
        "these definitions are valid in ROS 1 and in ROS 2",
        advice="give --ros1 or --ros2",
    )


def _sources(path: Path) -> Iterator[Source]:
    if path.is_file():
        yield from _file(path)
        return
    if not path.is_dir():
        raise Error("not_found", "no such file or folder", str(path), "check the path")
    folders = [path] if path.name in PARTS else []
    for here, below, _ in os.walk(path):
        below[:] = sorted(one for one in below if not one.startswith("."))
        folders += [Path(here) / one for one in below if one in PARTS]
    found = [source for folder in folders for source in _definitions(folder, asked=True)]
    if not found:
        raise Error(
            "not_found",
            "no ROS definition in this folder",
            str(path),
            "definitions are PACKAGE/msg/*.msg, PACKAGE/srv/*.srv and PACKAGE/action/*.action",
        )
    yield from found


def _file(path: Path) -> Iterator[Source]:
    folder = path.absolute().parent
    if folder.name not in PARTS or path.suffix != f".{folder.name}":
        raise Error(
            "invalid_config",
            "the package of this file is unknown",
            str(path),
            "move it to a ROS path: PACKAGE/msg/NAME.msg, PACKAGE/srv/NAME.srv or "
            "PACKAGE/action/NAME.action",
        )
    package = _package_name(folder.parent)
    yield Source(Name(package, folder.name, path.stem), path, asked=True)
    for kind in PARTS:  # the file may need others beside it
        yield from _definitions(folder.parent / kind, asked=False)


def _definitions(folder: Path, *, asked: bool) -> Iterator[Source]:
    """The definitions in a folder. ROS 2 also installs .idl files and parts as .msg there."""
    files = sorted(folder.glob(f"*.{folder.name}"))
    if files:
        package = _package_name(folder.absolute().parent)
        for one in files:
            yield Source(Name(package, folder.name, one.stem), one, asked)


def _package_name(folder: Path) -> str:
    manifest = folder / "package.xml"
    found = _PACKAGE_NAME.search(read_text(manifest)) if manifest.is_file() else None
    return found[1] if found else folder.name


def _refuse_other(known: Source, other: Source) -> None:
    if read_text(known.path) != read_text(other.path):
        raise Error(
            "invalid_config",
            f"'{known.name.package}/{known.name.base}' has another definition in {known.path}",
            str(other.path),
            "give only one of the two packages",
        )


def _flavours_of_package(folder: Path) -> set[Flavour]:
    manifest = folder / "package.xml"
    text = read_text(manifest) if manifest.is_file() else ""
    if _ROS2_BUILD.search(text):
        return {Flavour.ROS2}
    return {Flavour.ROS1} if _ROS1_BUILD.search(text) else set()


def _flavours_of_text(text: str) -> set[Flavour]:
    lines = {Flavour.ROS1: _ROS1_LINE, Flavour.ROS2: _ROS2_LINE}
    return {flavour for flavour, line in lines.items() if line.search(text)}
