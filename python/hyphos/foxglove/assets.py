"""The mesh files of robot models, for the page. Only files that a robot model names are read."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from google.protobuf.message import DecodeError

from hyphos.msgs import String

TYPE = String.DESCRIPTOR.full_name
_MOST_NAMES = 2000
_MOST_BYTES = 64 << 20
_SUFFIXES = (".stl",)  # the meshes that the page can show
_CHANNEL = re.compile(r"(?:^|.*/)robot_description")
_MESH = re.compile(r"<mesh\b[^>]*?\bfilename\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


class Assets:
    """Reads a mesh by its address in a robot model. Thread-safe.

    `folders` are searched for package:// addresses, with and without the name of the package, as by
    the viewer. A model can name any file, so only files with the suffix of a mesh are served.
    """

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = folders
        self._lock = threading.Lock()
        self._names: set[str] = set()

    def note(self, channel: str, data: bytes) -> None:
        """Permits the meshes of a robot model, if the message on this channel is one."""
        if not _CHANNEL.fullmatch(channel):
            return
        try:
            text = String.FromString(data).data
        except DecodeError:
            return
        names = {html.unescape(one or other) for one, other in _MESH.findall(text)}
        with self._lock:
            for name in sorted(names)[: max(0, _MOST_NAMES - len(self._names))]:
                self._names.add(name)

    def __call__(self, uri: str) -> bytes | None:
        """The bytes of a file. None if no model names it, or it cannot be read."""
        with self._lock:
            known = uri in self._names
        path = self._path(uri) if known else None
        if path is None or path.suffix.lower() not in _SUFFIXES:
            return None
        try:
            if not path.is_file() or path.stat().st_size > _MOST_BYTES:
                return None
            return path.read_bytes()
        except OSError:
            return None

    def _path(self, uri: str) -> Path | None:
        """The file of an address, behind all links. None if there is none."""
        if uri.startswith("file://"):
            return Path(unquote(uri.removeprefix("file://"))).resolve()
        if not uri.startswith("package://"):
            return Path(uri).resolve() if uri.startswith("/") else None
        rest = Path(unquote(uri.removeprefix("package://")))
        for folder in self._folders:
            for below in (rest, Path(*rest.parts[1:])):
                path = (folder / below).resolve()
                if path.is_relative_to(folder.resolve()) and path.is_file():
                    return path
        return None
