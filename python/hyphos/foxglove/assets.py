"""The mesh files of robot models and markers, and the files beside them, for the page. Only files
that a message or a mesh file names are read.
"""

from __future__ import annotations

import html
import json
import re
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import foxglove.messages as fox
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from hyphos.msgs import String

MODEL = String.DESCRIPTOR.full_name
SCENE = "foxglove.SceneUpdate"
SCHEMAS = (MODEL, SCENE)  # of channels that name meshes
_MOST_NAMES = 4000
_MOST_BESIDE = 64  # files that a mesh file names
_MOST_BYTES = 64 << 20
# The types of files that web/src/meshes.js can show, and the files beside them.
_MESHES = (".dae", ".glb", ".gltf", ".obj", ".stl")
_BESIDE = (".bin", ".jpeg", ".jpg", ".mtl", ".png")
_CHANNEL = re.compile(r"(?:^|.*/)robot_description")
_MESH = re.compile(r"<mesh\b[^>]*?\bfilename\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_HAS_MESH = re.compile(rb"(?i)\.(?:dae|glb|gltf|obj|stl)")
_IN_FILE = {
    ".dae": re.compile(rb"<init_from>\s*(?:<ref>)?([^<]*)<"),
    ".obj": re.compile(rb"(?m)^[ \t]*mtllib[ \t]+(\S[^\r\n]*)"),
    ".mtl": re.compile(rb"(?mi)^[ \t]*map_Kd[ \t]+(?:[^\r\n]*[ \t])?(\S+)"),
}


class Assets:
    """Reads a mesh by its address in a robot model or a marker. Thread-safe.

    `folders` are searched for package:// addresses, with and without the name of the package, as by
    the viewer. A message can name any file, so only files with the suffix of a mesh are served, and
    the textures, materials and buffers that such a file names.
    """

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = folders
        self._lock = threading.Lock()
        self._meshes: set[str] = set()
        self._beside: set[str] = set()

    def note(self, channel: str, schema: str, data: bytes) -> None:
        """Permits the meshes in a message of this schema (one of SCHEMAS), as it is sent."""
        try:
            if schema == SCENE:
                names = _names_in_scene(data)
            elif _CHANNEL.fullmatch(channel):
                text = String.FromString(data).data
                names = {html.unescape(one or other) for one, other in _MESH.findall(text)}
            else:
                return
        except DecodeError:
            return
        if not names <= self._meshes:
            self._permit(self._meshes, sorted(names))

    def _permit(self, known: set[str], names: Iterable[str]) -> None:
        with self._lock:
            for name in names:
                if len(known) < _MOST_NAMES:
                    known.add(name)

    def __call__(self, uri: str) -> bytes | None:
        """The bytes of a file. None if nothing names it, or it cannot be read."""
        with self._lock:
            suffixes = (_MESHES if uri in self._meshes else ()) + (
                _BESIDE if uri in self._beside else ()
            )
        path = self._path(uri) if suffixes else None
        if path is None or path.suffix.lower() not in suffixes:
            return None
        try:
            if not path.is_file() or path.stat().st_size > _MOST_BYTES:
                return None
            data = path.read_bytes()
        except OSError:
            return None
        found = (beside(uri, name) for name in names_in(path.suffix.lower(), data))
        self._permit(self._beside, [one for one in found if one is not None])
        return data

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


@cache
def _scene() -> Any:
    """The class of foxglove.SceneUpdate. That of the SDK cannot be read."""
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(fox.SceneUpdate.get_schema().data).file:
        pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(SCENE))


def _names_in_scene(data: bytes) -> set[str]:
    if not _HAS_MESH.search(data):  # thousands of times faster than to parse it
        return set()
    update = _scene().FromString(data)
    return {model.url for entity in update.entities for model in entity.models if model.url}


def names_in(suffix: str, data: bytes) -> list[str]:
    """The files that a mesh or material file names, as they are written there."""
    if suffix in (".glb", ".gltf"):
        names = _names_in_gltf(data)
    elif suffix in _IN_FILE:
        found = _IN_FILE[suffix].findall(data)
        texts = [name.decode(errors="replace").strip() for name in found]
        names = [html.unescape(text) for text in texts] if suffix == ".dae" else texts
    else:
        return []
    return list(dict.fromkeys(name for name in names if name))[:_MOST_BESIDE]


def _names_in_gltf(data: bytes) -> list[str]:
    if data[:4] == b"glTF":  # a header of 12 bytes, then the size, the kind and the text
        data = data[20 : 20 + int.from_bytes(data[12:16], "little")]
    try:
        head = json.loads(data)
        uris = [one.get("uri") for key in ("buffers", "images") for one in head.get(key, ())]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return []
    return [uri for uri in uris if isinstance(uri, str) and not uri.startswith("data:")]


def beside(uri: str, name: str) -> str | None:
    """The address of a file that the file at `uri` names, as the page forms it (web/src/beside.js).
    None for a name that leads elsewhere."""
    start = re.match(r"(?:\w+://)?", uri)
    scheme = start[0] if start else ""
    place = uri.removeprefix(scheme)
    file = unquote(name.replace("\\", "/"))
    if re.match(r"\w+:", file) or file.startswith("/"):
        return None
    parts = place.split("/")[:-1]
    for part in file.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            parts.append(part)
        elif len(parts) > 1:
            parts.pop()
        else:
            return None
    return scheme + "/".join(parts)
