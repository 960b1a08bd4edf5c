"""The ROS definitions of a machine: the installed ones, and those of the package `rosbags` and of
common packages where ROS is not installed."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from hyphos._errors import Error
from hyphos.ros.common import definitions
from hyphos.ros.counterparts import write_counterparts
from hyphos.ros.definition import PARTS, Flavour
from hyphos.ros.importing import imported, proto_files, write_files
from hyphos.ros.library import Library
from hyphos.ros.protos import compile_protos
from hyphos.ros.sources import find_sources, guess_flavour

_STORES = {Flavour.ROS1: "ROS1_NOETIC", Flavour.ROS2: "ROS2_JAZZY"}
_KEPT = 8  # descriptor sets in the cache
# The field that IDL adds to an empty ROS message.
_DUMMY = "uint8 structure_needs_at_least_one_member"


def descriptors(paths: Sequence[Path] = (), proto_paths: Sequence[Path] = ()) -> bytes:
    """A serialized FileDescriptorSet of all known types.

    The types come from `paths` (packages, or folders of packages), the installed packages, and the
    .proto files below `proto_paths`. If two define a type, `paths` takes precedence, then the
    installed one. A type that only one ROS version defines also gets a counterpart in the other
    one. The first call takes about three seconds. The result is cached for the user.
    """
    folders = [folder for path in paths for folder in package_folders(path)]
    chosen = _by_flavour([*folders, *_installed()])
    key = _key(chosen, proto_paths)
    kept = _cache() / f"types-{key}.pb"
    with suppress(OSError):
        return kept.read_bytes()
    made = _make(chosen, proto_paths)
    _keep(kept, made)
    return made


def known_folders(flavour: Flavour) -> list[Path]:
    """The packages of one ROS version that this machine knows."""
    return _by_flavour(_installed())[flavour]


def names() -> list[str]:
    """The types of ROS that this machine knows: "sensor_msgs/msg/Image", "sensor_msgs/Image"."""
    found: set[str] = set()
    for flavour in Flavour:
        library = Library.load(known_folders(flavour), flavour)
        found.update(name.text(flavour) for name in library.names())
    return sorted(found)


def write_descriptors(
    paths: Sequence[Path], proto_paths: Sequence[Path], output: Path | None
) -> int:
    """Writes descriptors() to a file, or to standard output unless that is a terminal."""
    if output is None and sys.stdout.isatty():
        raise Error(
            "invalid_config",
            "the descriptors are binary data",
            advice="write them to a file with -o FILE",
        )
    made = descriptors(paths, proto_paths)
    if output is None:
        sys.stdout.buffer.write(made)
        return 0
    try:
        _replace(output, made)
    except OSError as error:
        raise Error(
            "io", f"cannot write: {error.strerror}", str(output), "give another -o"
        ) from error
    return 0


def package_folders(path: Path) -> list[Path]:
    """The packages with definitions below a path, including the path itself."""
    if not path.is_dir():
        raise Error("not_found", "no such folder", str(path), "check the path")
    found = {source.package_folder.absolute() for source in find_sources([path]).values()}
    return sorted(found)


def _installed() -> list[Path]:
    """The packages in the usual folders of ROS."""
    places = [Path("/usr/share"), *sorted(Path("/opt/ros").glob("*/share"))]
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        for entry in filter(None, os.environ.get(variable, "").split(":")):
            places += [Path(entry), Path(entry, "share")]
    found: dict[Path, None] = {}
    for place in places:
        for kind in PARTS:
            for folder in sorted(place.glob(f"*/{kind}")):
                if any(folder.glob(f"*.{kind}")) and (folder.parent / "package.xml").is_file():
                    found[folder.parent.absolute()] = None
    return list(found)


def _by_flavour(folders: Iterable[Path]) -> dict[Flavour, list[Path]]:
    """The first package of each name, then those of rosbags for missing packages."""
    chosen: dict[Flavour, dict[str, Path]] = {Flavour.ROS1: {}, Flavour.ROS2: {}}
    for folder in folders:
        try:
            flavour = guess_flavour(find_sources([folder]).values())
        except Error:
            flavour = Flavour.ROS1  # valid in both, with the same meaning
            chosen[Flavour.ROS2].setdefault(folder.name, folder)
        chosen[flavour].setdefault(folder.name, folder)
    for flavour, known in chosen.items():
        for folder in _carried(flavour):
            known.setdefault(folder.name, folder)
    return {flavour: list(known.values()) for flavour, known in chosen.items()}


def _carried(flavour: Flavour) -> list[Path]:
    """The definitions of rosbags and of common packages, as files in the cache."""
    common = definitions(flavour)
    also = hashlib.sha256(repr(common).encode()).hexdigest()[:8]
    place = _cache() / f"rosbags-{version('rosbags')}-{also}" / flavour.value
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as draft:
            made = Path(draft, flavour.value)
            for name, text in _carried_definitions(flavour):
                package, base = name.split("/msg/")
                _write(made / package / "msg" / f"{base}.msg", text)
            for name, text in common.items():
                package, kind, base = name.split("/")
                _write(made / package / kind / f"{base}.{kind}", text)
            with suppress(OSError):  # another process was faster
                made.rename(place)
    return sorted(place.iterdir())


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _carried_definitions(flavour: Flavour) -> Iterator[tuple[str, str]]:
    from rosbags.typesys import Stores, get_typestore  # noqa: PLC0415

    store = get_typestore(Stores[_STORES[flavour]])
    ros_version = 1 if flavour is Flavour.ROS1 else 2
    for name in store.fielddefs:
        text, _ = store.generate_msgdef(name, ros_version=ros_version)
        lines = text.split("=" * 80)[0].splitlines(keepends=True)
        yield name, "".join(line for line in lines if line.strip() != _DUMMY)


def _make(chosen: dict[Flavour, list[Path]], proto_paths: Sequence[Path]) -> bytes:
    whole = FileDescriptorSet()
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as others:
        added = write_counterparts(chosen, Path(others))
        for flavour, folders in chosen.items():
            library = Library.load([*folders, *added[flavour]], flavour)
            write_files(proto_files(imported(library), library), Path(place))
        parts = [compile_protos(Path(place))]
    if proto_paths:
        parts.append(compile_protos(*proto_paths))
    seen = set()
    for part in parts:
        for file in part.file:
            if file.name not in seen:
                seen.add(file.name)
                whole.file.add().CopyFrom(file)
    return whole.SerializeToString()


def _key(chosen: dict[Flavour, list[Path]], proto_paths: Sequence[Path]) -> str:
    """A cache key that changes with every definition."""
    digest = hashlib.sha256(version("protobuf").encode())
    files = [
        file
        for folders in chosen.values()
        for folder in folders
        for kind in PARTS
        for file in sorted((folder / kind).glob(f"*.{kind}"))
    ]
    files += [file for path in proto_paths for file in sorted(path.rglob("*.proto"))]
    files += sorted(Path(__file__).parent.rglob("*.py"))  # the generator itself
    for file in files:
        status = file.stat()
        digest.update(f"{file} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:24]


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "hyphos")


def _replace(file: Path, made: bytes) -> None:
    """Replaces a file atomically."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        draft.write_bytes(made)
        draft.replace(file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _keep(file: Path, made: bytes) -> None:
    """Writes to the cache. A cache that cannot be written only costs time."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        _replace(file, made)
        kept = sorted(file.parent.glob("types-*.pb"), key=lambda one: one.stat().st_mtime)
        for old in kept[:-_KEPT]:
            old.unlink()
