"""hyphos msg ..."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyphos.cli.options import AsJson, Descriptor, Domain, ProtoPath, Ros

if TYPE_CHECKING:
    from hyphos.ros.definition import Flavour

app = typer.Typer(
    no_args_is_help=True,
    help="Message types: list, show. ROS types as .proto files. Types as Python and C# classes.",
)

Paths = Annotated[
    list[Path],
    typer.Argument(
        help="Packages, folders of packages such as /opt/ros/jazzy/share, or single files, "
        "together with the packages that they need.",
        show_default=False,
        metavar="PATH...",
    ),
]
Ros1 = Annotated[bool, typer.Option("--ros1", help="Read as ROS 1. Default: detect.")]
Ros2 = Annotated[bool, typer.Option("--ros2", help="Read as ROS 2. Default: detect.")]


def _flavour(ros1: bool, ros2: bool) -> Flavour | None:
    from hyphos.ros.definition import Flavour  # noqa: PLC0415

    if ros1 and ros2:
        raise typer.BadParameter("give --ros1 or --ros2, not both")
    if ros1:
        return Flavour.ROS1
    return Flavour.ROS2 if ros2 else None


@app.command("import")
def import_(
    paths: Paths,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder to write to.", file_okay=False),
    ] = Path("ros_proto"),
    ros1: Ros1 = False,
    ros2: Ros2 = False,
) -> None:
    """Convert .msg, .srv and .action files to .proto files that keep all that ROS needs.

    hyphos msg import /usr/share/std_msgs /usr/share/sensor_msgs /usr/share/geometry_msgs

    hyphos msg import src/my_msgs /opt/ros/jazzy/share -o proto --ros2
    """
    from hyphos.ros.importing import import_types  # noqa: PLC0415

    raise typer.Exit(import_types(paths, output, _flavour(ros1, ros2)))


@app.command("list")
def list_(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(help="Names, or patterns like 'rover.*'. Default: all.", metavar="TYPE..."),
    ] = None,
    of_ros: Annotated[
        bool, typer.Option("--ros", help="Also the types of ROS that this machine knows.")
    ] = False,
    as_json: AsJson = False,
    domain: Domain = "0",
    proto_path: ProtoPath = None,
    descriptor: Descriptor = None,
) -> None:
    """List the types in reach, with the processes that announce them and the channels of each.

    hyphos msg list 'rover.*'
    """
    from hyphos.tools.type_tools import TypeOptions, list_types  # noqa: PLC0415

    options = TypeOptions(domain, proto_path or [], descriptor or [], as_json)
    raise typer.Exit(list_types(patterns or ["*"], options, of_ros=of_ros))


@app.command("show")
def show(
    name: Annotated[
        str,
        typer.Argument(help="rover.Safety, LaserScan or sensor_msgs/LaserScan.", metavar="TYPE"),
    ],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="ROS packages, folders of packages, or single files, with the packages that they "
            "need. Default: the known types.",
            show_default=False,
            metavar="PATH...",
        ),
    ] = None,
    ros1: Ros1 = False,
    ros2: Ros2 = False,
    as_json: AsJson = False,
    domain: Domain = "0",
    proto_path: ProtoPath = None,
    descriptor: Descriptor = None,
) -> None:
    """Show the fields of a type. For ROS also its identity: the ROS 1 md5 sum, the ROS 2 type hash.

    Protobuf types come from the running processes, the standard messages and -I. A name with a
    slash is a type of ROS.

    hyphos msg show LaserScan

    hyphos msg show std_msgs/Header
    """
    flavour = _flavour(ros1, ros2)
    if paths:
        from hyphos.ros.importing import show_type  # noqa: PLC0415

        raise typer.Exit(show_type(name, paths, flavour, as_json=as_json))
    from hyphos.tools.type_tools import TypeOptions, show_protobuf, show_ros  # noqa: PLC0415

    if "/" in name or flavour is not None:
        raise typer.Exit(show_ros(name, flavour, as_json=as_json))
    options = TypeOptions(domain, proto_path or [], descriptor or [], as_json)
    raise typer.Exit(show_protobuf(name, options))


@app.command("descriptors")
def descriptors_(
    ros: Ros = None,
    proto_path: ProtoPath = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write. Default: standard output.",
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Write all types of a gateway as one FileDescriptorSet: installed ROS types, the common ones,
    and yours. For gateways that C++ programs open.

    hyphos msg descriptors --ros src/my_msgs -o types.pb
    """
    from hyphos.ros.known import write_descriptors  # noqa: PLC0415

    raise typer.Exit(write_descriptors(ros or [], proto_path or [], output))


@app.command("python")
def python(
    folders: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of .proto files (needs protoc). They may import those of Hyphos.",
            show_default=False,
            metavar="FOLDER...",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder to write to.", file_okay=False),
    ] = Path(),
) -> None:
    """Convert .proto files to Python modules with type stubs: mine/thing_pb2.py, mine/thing_pb2.pyi

    hyphos msg python protos -o src
    """
    from hyphos.ros.protos import python_modules  # noqa: PLC0415

    for written in python_modules(folders, output):
        print(written)


@app.command("csharp")
def csharp(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Folders of .proto files with all their imports (needs protoc). Default: the "
            "standard messages.",
            show_default=False,
            metavar="FOLDER...",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    descriptor: Descriptor = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder to write to.", file_okay=False),
    ] = Path("csharp"),
) -> None:
    """Convert .proto files to C# classes for the client of Unity and Mono.

    hyphos msg csharp proto -o Assets/Messages
    """
    from hyphos.csharp.generate import generate  # noqa: PLC0415

    raise typer.Exit(generate(folders or [], descriptor or [], output))
