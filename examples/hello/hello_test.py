"""The first programs: the documents show them unchanged, they are short, and they work together."""

from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

Listen = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("name", "most_lines", "documents"),
    [
        ("talker.cpp", 12, ["docs/how-to/cpp.md", "docs/tutorials/from_ros2.md"]),
        ("listener.py", 6, ["docs/how-to/python.md", "docs/tutorials/from_ros2.md"]),
        ("listener.cpp", 12, ["docs/tutorials/from_ros2.md"]),
        ("talker.py", 7, ["docs/tutorials/from_ros2.md"]),
    ],
)
def test_documents_show_this_program_unchanged(
    name: str, most_lines: int, documents: list[str]
) -> None:
    text = (HERE / name).read_text()
    for document in documents:
        assert text in (ROOT / document).read_text()
    assert len([line for line in text.splitlines() if line]) <= most_lines


@pytest.mark.parametrize("listener", ["hello_listener", "listener.py"])
@pytest.mark.parametrize("talker", ["hello_talker", "talker.py"])
def test_talkers_reach_listeners_in_both_languages(
    talker: str, listener: str, listen: Listen
) -> None:
    assert listen(f"hello/{listener}", f"hello/{talker}") == ["hello"]
