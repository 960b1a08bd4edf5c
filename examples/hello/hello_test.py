"""The README's first programs: they are what stands here, they are short, and they talk."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TALKER = ROOT / "build/release/examples/hello/hello_talker"


@pytest.mark.parametrize(("name", "most_lines"), [("talker.cpp", 12), ("listener.py", 6)])
def test_the_readme_shows_this_program(name: str, most_lines: int) -> None:
    text = (HERE / name).read_text()
    assert text in (ROOT / "README.md").read_text()
    assert len([line for line in text.splitlines() if line]) <= most_lines


def test_a_talker_in_cpp_is_heard_in_python() -> None:
    domain = ["--hyphos-domain", "hello-test"]
    listener = subprocess.Popen(
        [sys.executable, str(HERE / "listener.py"), *domain], stdout=subprocess.PIPE, text=True
    )
    talker = subprocess.Popen([str(TALKER), *domain])
    try:
        assert listener.stdout is not None
        assert listener.stdout.readline() == "hello\n"
    finally:
        for process in (listener, talker):
            process.terminate()
    assert listener.wait(timeout=30) == 0
    assert talker.wait(timeout=30) == 0
