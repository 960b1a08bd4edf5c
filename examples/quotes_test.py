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
        ("cpp.md", "hello/talker.cpp", "#include <hyphos/hyphos.hpp>"),
        ("cpp.md", "01_struct/wheel.hpp", "struct Wheel {"),
        ("cpp.md", "01_struct/odometer.cpp", 'node.subscribe<Wheel>("wheel"'),
        ("cpp.md", "02_image/camera.cpp", "hyphos::WritableBuffer pixels"),
        ("cpp.md", "03_loan_and_forward/relay.cpp", "auto relayed ="),
        ("cpp.md", "07_params/cruise.cpp", "const hyphos::Params params ="),
        ("cpp.md", "09_late_joiner/server.cpp", "hyphos::Policy latched;"),
        ("cpp.md", "10_transforms/robot.cpp", "auto transforms ="),
        ("cpp.md", "10_transforms/watcher.cpp", "const auto found ="),
        ("cpp.md", "11_service/adder.cpp", 'node.service<Sum, Total>("add"'),
        ("cpp.md", "11_service/asker.cpp", "auto add ="),
        ("cpp.md", "13_time/beeper.cpp", "const hyphos::Clock clock ="),
        ("python.md", "07_params/cruise.py", "params = node.params()"),
        ("python.md", "08_replay/first_values.py", "with Path(file)"),
        ("python.md", "10_transforms/robot.py", "transforms = node.transforms()"),
        ("python.md", "10_transforms/watcher.py", "laser = transforms.get("),
        ("python.md", "11_service/asker.py", "async def ask("),
        ("python.md", "13_time/beeper.py", "node.every(lambda: print("),
        ("services.md", "11_service/adder.cpp", 'node.service<Sum, Total>("add"'),
        ("services.md", "11_service/asker.cpp", "auto add ="),
        ("services.md", "12_action/driver.cpp", "void drive("),
        ("services.md", "12_action/captain.py", "drive_to ="),
        ("transforms.md", "10_transforms/robot.cpp", "auto transforms ="),
        ("transforms.md", "10_transforms/robot.cpp", "(void)transforms.set("),
        ("transforms.md", "10_transforms/watcher.cpp", "const auto found ="),
        ("concepts.md", "06_drops/drops_test.py", "$ build/release/examples/06_drops/drops_slow"),
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


@pytest.mark.parametrize("document", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
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
