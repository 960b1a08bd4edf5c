"""Commands in the words of ROS are answered with the whole command of Hyphos."""

from __future__ import annotations

import shlex
from functools import cache
from typing import Any

import pytest
from helpers import Cli
from hyphos.cli.main import make_app
from hyphos.cli.ros_words import Word, all_commands
from typer.main import get_command

# The command typed by a hand used to ROS 2, and the command in the answer.
TYPED = [
    ("topic list", "hyphos channel list"),
    ("topic list -t", "hyphos channel list"),
    ("topic info -v /scan", "hyphos channel info scan"),
    ("topic echo /odom --once", "hyphos channel echo odom -n 1"),
    ("topic echo /odom --field pose", "hyphos channel echo odom --field pose"),
    (
        "topic pub -r 10 /cmd_vel geometry_msgs/msg/Twist '{linear: {x: 0.5}}'",
        "hyphos channel pub -r 10 cmd_vel Twist '{linear: {x: 0.5}}'",
    ),
    (
        "topic pub -1 /go std_msgs/msg/Empty '{}'",
        "hyphos channel pub --once go Empty '{}'",
    ),
    ("topic", "hyphos channel list"),
    ("echo scan", "hyphos channel echo scan"),
    ("hz /scan", "hyphos channel hz scan"),
    ("launch robot.yaml", "hyphos run robot.yaml"),
    ("launch bringup robot.launch.py", "hyphos run robot.yaml"),
    ("interface show std_msgs/msg/String", "hyphos msg show std_msgs/msg/String"),
    ("pkg create --build-type ament_cmake my_robot", "hyphos new my_robot"),
    ("interface list", "hyphos msg list"),
    ("bag play run.mcap -r 2", "hyphos replay run.mcap -r 2"),
    ("bag record -a -o run.mcap", "hyphos record -o run.mcap"),
    ("play run.mcap", "hyphos replay run.mcap"),
    ("action send_goal -f /drive_to '{x: 1.0}'", "hyphos action send drive_to '{x: 1.0}'"),
    ("service type /reset", "hyphos service info reset"),
    ("rqt_graph", "hyphos graph -o graph.svg"),
    ("wtf", "hyphos doctor"),
]


@cache
def program() -> Any:
    return get_command(make_app())


@pytest.mark.parametrize(("typed", "answer"), TYPED)
def test_a_command_of_ros_is_answered(typed: str, answer: str, hyphos_cli: Cli) -> None:
    code, out, err = hyphos_cli(*shlex.split(typed))
    assert (code, out) == (2, "")
    assert f"is: {answer}" in " ".join(err.split()), err


def options_of(command: Any) -> set[str]:
    return {name for param in command.params for name in (*param.opts, *param.secondary_opts)}


@pytest.mark.parametrize(
    ("path", "word"), all_commands(), ids=[" ".join(path) for path, _ in all_commands()]
)
def test_every_answer_is_a_command_that_exists(path: tuple[str, ...], word: Word) -> None:
    command = program()
    for name in path:  # the word itself is no command, so that it needs an answer
        command = getattr(command, "commands", {}).get(name)
        if command is None:
            break
    assert command is None
    first, *words = shlex.split(word.command)
    if first != "hyphos":
        assert first in ("cmake", "python3")
        return
    command = program()
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    assert command is not program(), word.command
    if words and words != ["--help"] and (default := getattr(command, "default", "")):
        command = command.commands[default]
    assert words in ([], ["--help"]) or not getattr(command, "commands", None), word.command
    given = [one for one in words if one.startswith("--") and one != "--help"]
    given += [new.split()[0] for _, new in word.change]
    assert set(given) <= options_of(command), word.command


def test_other_words_get_the_nearest_command(hyphos_cli: Cli) -> None:
    code, _, err = hyphos_cli("chanel", "list")
    assert code == 2
    assert "channel" in err
    code, _, err = hyphos_cli("channel", "ecko")
    assert code == 2
    assert "echo" in err
