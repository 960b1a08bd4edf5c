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
    listen = [sys.executable, str(HERE / "listener.py"), *domain]
    with (
        subprocess.Popen(listen, stdout=subprocess.PIPE, text=True) as listener,
        subprocess.Popen([str(TALKER), *domain]) as talker,
    ):
        assert listener.stdout is not None
        try:
            assert listener.stdout.readline() == "hello\n"
        finally:
            listener.terminate()
            talker.terminate()
    assert listener.returncode == 0
    assert talker.returncode == 0
