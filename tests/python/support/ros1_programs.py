"""The ROS 1 programs of Debian, in a separate graph."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers import PATIENCE_S, Program, Start

PROGRAMS = Path(__file__).parents[3] / "build/release/tests/gateway/ros1"
TOOLS = ("rosmaster", "rostopic", "rosnode", "rosservice", "rosparam")
SYSTEM_PYTHON = "/usr/bin/python3"  # Debian ships rospy for this interpreter only


def _has(modules: str) -> bool:
    words = [SYSTEM_PYTHON, "-c", f"import {modules}"]
    return (
        Path(SYSTEM_PYTHON).exists()
        and subprocess.run(words, capture_output=True, check=False).returncode == 0
    )


needs_ros1 = pytest.mark.skipif(
    not all(shutil.which(tool) for tool in TOOLS) or not _has("rospy, std_msgs.msg, std_srvs.srv"),
    reason="ROS 1 is not installed (scripts/setup core ros)",
)
needs_actionlib = pytest.mark.skipif(
    not _has("actionlib.msg"), reason="no actionlib (scripts/setup core ros)"
)

# rospy has a thread for each publisher, and print() writes a line and its end separately.
LISTENER = """
import sys
import rospy
from std_msgs.msg import {kind}
def hear(message):
    sys.stdout.write(str(message.data) + "\\n")
    sys.stdout.flush()
rospy.init_node("{name}")
rospy.Subscriber("{topic}", {kind}, hear)
rospy.spin()
"""


class Ros:
    """A ROS graph: the environment with the master for its programs."""

    def __init__(self, start: Start, master: str, folder: Path) -> None:
        self._start = start
        self.variables = {
            "ROS_MASTER_URI": master,
            "ROS_HOSTNAME": "127.0.0.1",
            "ROS_LOG_DIR": str(folder / "log"),
            "PYTHONUNBUFFERED": "1",
        }

    def start(self, *words: str) -> Program:
        """Starts a node that keeps running."""
        return self._start("env", *(f"{k}={v}" for k, v in self.variables.items()), *words)

    def script(self, text: str) -> Program:
        return self.start(SYSTEM_PYTHON, "-c", text)

    def run(self, *words: str) -> str:
        """The output of a command, which must succeed."""
        done = subprocess.run(
            words,
            env={**os.environ, **self.variables},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def succeeds(self, *words: str) -> bool:
        env = {**os.environ, **self.variables}
        return subprocess.run(words, env=env, capture_output=True, check=False).returncode == 0


def next_data(echo: Program) -> str:
    """The text of the next message that `rostopic echo` prints."""
    while True:
        line = echo.line()
        if line.startswith("data: "):
            return line.removeprefix("data: ").strip().strip('"')


def listener_of(topic: str, kind: str = "String", name: str = "listener") -> str:
    return LISTENER.format(topic=topic, kind=kind, name=name)
