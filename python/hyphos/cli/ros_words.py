"""Answers commands in the words of ROS with the whole command of Hyphos."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_TYPE = re.compile(r"[a-z][a-z0-9_]*/(?:(?:msg|srv|action)/)?([A-Z][A-Za-z0-9]*)")
_NAME = re.compile(r"/[A-Za-z_][A-Za-z0-9_/]*")
_OWN_TYPES = re.compile(r"(?:std|geometry|sensor|nav|tf2)_msgs/")


@dataclass(frozen=True)
class Word:
    """The counterpart of a word: a command, or a sentence where no command fits.

    `{rest}` in the command is the place of the other arguments. Without it they are omitted.
    """

    command: str
    reason: str = ""
    drop: frozenset[str] = frozenset()  # options without a counterpart, which take no value
    change: tuple[tuple[str, str], ...] = ()  # options with another name
    ros_types: bool = False  # the command takes names of ROS types


def _word(
    command: str, reason: str = "", drop: str = "", change: str = "", *, ros_types: bool = False
) -> Word:
    pairs = [one.split("=", 1) for one in change.split(",") if one]
    renamed = tuple((old, new) for old, new in pairs)
    return Word(command, reason, frozenset(drop.split()), renamed, ros_types)


_CHANNEL = "a topic is a channel"
_RUN = "a launch file is a robot.yaml"
_SHOW = "Types are .proto files, and ROS types are known by name"
_BAG = "a bag is a recording"

# Words of the program itself. The value of a group has the words below it.
_TOP: dict[str, Word] = {
    "launch": _word("hyphos run {rest}", _RUN),
    "echo": _word("hyphos channel echo {rest}", _CHANNEL, change="--once=-n 1"),
    "hz": _word("hyphos channel hz {rest}", _CHANNEL),
    "bw": _word("hyphos channel bw {rest}", _CHANNEL),
    "delay": _word("hyphos channel delay {rest}", _CHANNEL),
    "pub": _word("hyphos channel pub {rest}", _CHANNEL),
    "call": _word("hyphos service call {rest}"),
    "play": _word("hyphos replay {rest}", _BAG),
    "rosbag": _word("hyphos bag --help", "hyphos record writes recordings, hyphos replay plays"),
    "pkg": _word("hyphos new NAME", "there are no packages: CMake and pip build a robot"),
    "create": _word("hyphos new {rest}"),
    "init": _word("hyphos new {rest}"),
    "build": _word("cmake -B build && cmake --build build", "there is no workspace to source"),
    "colcon": _word("cmake -B build && cmake --build build", "there is no workspace to source"),
    "test": _word("python3 -m pytest", "tests are programs of pytest or GoogleTest"),
    "interface": _word("hyphos msg show TYPE", _SHOW),
    "component": _word("hyphos plan robot.yaml", "`process:` of a node in the plan places it"),
    "lifecycle": _word(
        "hyphos run robot.yaml", "nodes have no states: `after:` and `ready:` order the start"
    ),
    "daemon": _word("hyphos doctor", "there is no daemon"),
    "multicast": _word("hyphos doctor", "multicast is off unless the plan enables it"),
    "wtf": _word("hyphos doctor"),
    "security": _word("hyphos keys PREFIX", "a key pair encrypts the links of a robot"),
    "extensions": _word("hyphos doctor"),
    "control": _word("hyphos node list", "controllers are nodes"),
    "rviz": _word("hyphos view"),
    "rviz2": _word("hyphos view"),
    "rqt": _word("hyphos top"),
    "rqt_graph": _word("hyphos graph -o graph.svg"),
    "rqt_plot": _word("hyphos foxglove", "Foxglove plots values"),
    "rqt_console": _word("hyphos log"),
    "rosout": _word("hyphos log"),
    "rqt_reconfigure": _word("hyphos param watch"),
    "tf2_echo": _word("hyphos tf echo {rest}"),
    "tf2_monitor": _word("hyphos tf monitor {rest}"),
    "view_frames": _word("hyphos tf tree --svg frames.svg"),
    "static_transform_publisher": _word("hyphos tf pub PARENT CHILD --xyz X Y Z --static"),
    "clean": _word("hyphos shm clean"),
    "ps": _word("hyphos top --once"),
    "nodes": _word("hyphos node list"),
    "channels": _word("hyphos channel list"),
    "topics": _word("hyphos channel list", _CHANNEL),
    "services": _word("hyphos service list"),
    "actions": _word("hyphos action list"),
    "params": _word("hyphos param list"),
}

_GROUPS: dict[str, dict[str, Word]] = {
    "topic": {
        "list": _word("hyphos channel list {rest}", _CHANNEL, "-t --show-types -v --verbose"),
        "info": _word("hyphos channel info {rest}", _CHANNEL, "-v --verbose"),
        "type": _word("hyphos channel info {rest}", _CHANNEL),
        "find": _word("hyphos channel list", _CHANNEL),
        "echo": _word(
            "hyphos channel echo {rest}",
            _CHANNEL,
            "--no-daemon",
            "--once=-n 1,--full-length=--full",
        ),
        "hz": _word("hyphos channel hz {rest}", _CHANNEL),
        "bw": _word("hyphos channel bw {rest}", _CHANNEL),
        "delay": _word("hyphos channel delay {rest}", _CHANNEL),
        "pub": _word("hyphos channel pub {rest}", _CHANNEL, change="-1=--once,--times=-n,-t=-n"),
        "": _word("hyphos channel list", _CHANNEL),
    },
    "channel": {
        "type": _word("hyphos channel info {rest}"),
        "find": _word("hyphos channel list"),
        "show": _word("hyphos channel info {rest}"),
    },
    "interface": {
        "list": _word("hyphos msg list", _SHOW),
        "package": _word("hyphos msg list", _SHOW),
        "packages": _word("hyphos msg list", _SHOW),
        "show": _word("hyphos msg show {rest}", _SHOW, ros_types=True),
        "proto": _word("hyphos msg show {rest}", _SHOW, ros_types=True),
    },
    "pkg": {
        "create": _word("hyphos new NAME", "there are no packages: CMake and pip build a robot"),
    },
    "bag": {
        "play": _word("hyphos replay {rest}", "", change="-l=--loop,-p=--step"),
        "record": _word("hyphos record {rest}", "", "-a --all --all-topics"),
        "reindex": _word("hyphos bag check FILE --repair NEW_FILE"),
        "list": _word("hyphos bag info FILE"),
        "burst": _word("hyphos replay FILE --rate 0"),
    },
    "action": {
        "send_goal": _word("hyphos action send {rest}", "", "-f --feedback"),
        "type": _word("hyphos action info {rest}"),
        "find": _word("hyphos action list"),
    },
    "service": {
        "type": _word("hyphos service info {rest}"),
        "find": _word("hyphos service list"),
        "echo": _word("hyphos service info {rest}", "requests are counted, and not published"),
    },
    "param": {
        "delete": _word("hyphos param list {rest}", "a node declares its parameters for good"),
        "save": _word("hyphos param dump -o tuned.yaml"),
    },
    "node": {
        "kill": _word("hyphos run robot.yaml", "Ctrl-C of hyphos run ends the processes"),
        "ping": _word("hyphos node list"),
    },
    "msg": {
        "package": _word("hyphos msg list"),
        "packages": _word("hyphos msg list"),
        "info": _word("hyphos msg show {rest}", ros_types=True),
    },
    "tf": {
        "view": _word("hyphos tf tree --svg frames.svg"),
        "list": _word("hyphos tf tree"),
        "static": _word("hyphos tf pub PARENT CHILD --xyz X Y Z --static"),
    },
}


def answer(path: Sequence[str], args: Sequence[str]) -> str:
    """The answer to an unknown command, or "". `path` has the names of the groups before it."""
    words = [*path, *args]
    group = _GROUPS.get(words[0], {})
    if len(words) > 1 and words[1] in group:
        found, used = group[words[1]], 2
    elif not path and words[0] in _TOP:
        found, used = _TOP[words[0]], 1
    elif not path and "" in group:
        found, used = group[""], len(words)
    else:
        return ""
    reason = f" ({found.reason})" if found.reason else ""
    return f"in Hyphos, '{' '.join(words[:used])}' is: {_command(found, words[used:])}{reason}"


def _command(word: Word, rest: Sequence[str]) -> str:
    names = [one for one in rest if not one.startswith("-")]
    if word.command == "hyphos new NAME" and names:
        return f"hyphos new {names[-1]}"
    if "{rest}" not in word.command:
        return word.command
    if word.command.startswith("hyphos run"):
        rest = [_plan(one) for one in rest if not one.endswith((".py", ".xml"))] or ["robot.yaml"]
        rest = [rest[-1]]
    renamed = dict(word.change)
    made: list[str] = []
    for one in rest:
        if one in word.drop:
            continue
        made += renamed[one].split() if one in renamed else [_argument(one, word.ros_types)]
    return word.command.replace("{rest}", shlex.join(made)).rstrip()


def _plan(argument: str) -> str:
    return argument if argument.endswith((".yaml", ".yml")) else "robot.yaml"


def _argument(argument: str, ros_types: bool) -> str:
    """Without the slash of a ROS name, and with the short name of a type of Hyphos."""
    if _NAME.fullmatch(argument) and not Path(argument).exists():
        return argument[1:]
    found = _TYPE.fullmatch(argument)
    if found is not None and not ros_types and _OWN_TYPES.match(argument):
        return found.group(1)
    return argument


def all_commands() -> list[tuple[tuple[str, ...], Word]]:
    """Each word with its path, for the tests."""
    top = [((name,), word) for name, word in _TOP.items()]
    below = [
        ((group, name) if name else (group,), word)
        for group, words in _GROUPS.items()
        for name, word in words.items()
    ]
    return [*top, *below]
