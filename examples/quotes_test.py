"""Code that the documents quote from the examples is equal to the code of the examples."""

import ast
import re
from pathlib import Path

import hyphos
import hyphos.msgs
import pytest

EXAMPLES = Path(__file__).parent
DOCS = EXAMPLES.parent / "docs"


def lines(text: str) -> list[str]:
    """The lines with code: without comments, indentation and blank lines."""
    return [line for raw in text.splitlines() if (line := re.sub(r"\s*//.*", "", raw).strip())]


@pytest.mark.parametrize(
    ("document", "source", "begins"),
    [
        ("how-to/cpp.md", "hello/talker.cpp", "#include <hyphos/hyphos.hpp>"),
        ("how-to/cpp.md", "01_struct/wheel.hpp", "struct Wheel {"),
        ("how-to/cpp.md", "01_struct/odometer.cpp", 'node.subscribe<Wheel>("wheel"'),
        ("how-to/cpp.md", "02_image/camera.cpp", "hyphos::WritableBuffer pixels"),
        ("how-to/cpp.md", "03_loan_and_forward/relay.cpp", "auto relayed ="),
        ("how-to/cpp.md", "07_params/cruise.cpp", "const hyphos::Params params ="),
        ("how-to/cpp.md", "09_late_joiner/server.cpp", "hyphos::Policy latched;"),
        ("how-to/cpp.md", "10_transforms/robot.cpp", "auto transforms ="),
        ("how-to/cpp.md", "10_transforms/watcher.cpp", "const auto found ="),
        ("how-to/cpp.md", "11_service/adder.cpp", 'node.service<Sum, Total>("add"'),
        ("how-to/cpp.md", "11_service/asker.cpp", "auto add ="),
        ("how-to/cpp.md", "13_time/beeper.cpp", "const hyphos::Clock clock ="),
        ("how-to/diagnostics.md", "17_diagnostics/battery.cpp", "const hyphos::Diagnostics"),
        ("how-to/diagnostics.md", "17_diagnostics/battery.py", "def charge("),
        ("how-to/python.md", "07_params/cruise.py", "params = node.params()"),
        ("how-to/python.md", "08_replay/first_values.py", "with Path(file)"),
        ("how-to/python.md", "10_transforms/robot.py", "transforms = node.transforms()"),
        ("how-to/python.md", "10_transforms/watcher.py", "laser = transforms.get("),
        ("how-to/python.md", "11_service/asker.py", "async def ask("),
        ("how-to/python.md", "13_time/beeper.py", "node.every(lambda: print("),
        ("how-to/services.md", "11_service/adder.cpp", 'node.service<Sum, Total>("add"'),
        ("how-to/services.md", "11_service/asker.cpp", "auto add ="),
        ("how-to/services.md", "12_action/driver.cpp", "void drive("),
        ("how-to/services.md", "12_action/captain.py", "drive_to ="),
        ("how-to/transforms.md", "10_transforms/robot.cpp", "auto transforms ="),
        ("how-to/transforms.md", "10_transforms/robot.cpp", "(void)transforms.set("),
        ("how-to/transforms.md", "10_transforms/watcher.cpp", "const auto found ="),
        ("how-to/view_code.md", "18_view/show.cpp", "// Shows arrays"),
        ("how-to/view_code.md", "18_view/show.py", "import sys"),
        (
            "explanation/concepts.md",
            "06_drops/drops_test.py",
            "$ build/release/examples/06_drops/drops_slow",
        ),
    ],
)
def test_quotes_match_the_examples(document: str, source: str, begins: str) -> None:
    blocks = re.findall(r"```\w*\n(.*?)```", (DOCS / document).read_text(), re.DOTALL)
    quoted = next(lines(block) for block in blocks if block.startswith(begins))
    text = (EXAMPLES / source).read_text()
    if source.endswith("_test.py"):  # the output of a program, as its test expects it
        assert all(f'"{line}"' in text for line in quoted[1:])
    else:
        assert set(quoted) <= set(lines(text))


@pytest.mark.parametrize("document", sorted(DOCS.rglob("*.md")), ids=lambda path: path.name)
def test_quoted_python_uses_names_that_exist(document: Path) -> None:
    for block in re.findall(
        r"^```python\n(.*?)^```", document.read_text(), re.DOTALL | re.MULTILINE
    ):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.value.id == "hyphos":
                    assert hasattr(hyphos, node.attr)
            elif isinstance(node, ast.ImportFrom) and node.module == "hyphos.msgs":
                assert all(hasattr(hyphos.msgs, name.name) for name in node.names)
