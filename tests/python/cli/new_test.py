"""`hyphos new`: its projects build, run and test with an installed package. Errors are clear."""

from __future__ import annotations

import errno
import random
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from doc_blocks import Block
from doc_terminals import Terminals, Typed
from helpers import Cli
from hyphos import Error
from hyphos._hyphos import Plan
from hyphos.new import names, project
from hyphos.new.project import Languages

ROOT = Path(__file__).resolve().parents[3]
LANGUAGES = [pytest.param(one, id=one.value) for one in Languages]
BOTH = Languages.BOTH


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def typed(line: str) -> Typed:
    return Typed(Block("hyphos new", 1, "sh", line), "", line)


@pytest.mark.parametrize("languages", LANGUAGES)
def test_the_printed_commands_build_run_and_test(
    languages: Languages, terminals: Terminals
) -> None:
    written = terminals.type(typed(f"hyphos new rover --{languages.value}"))
    _, commands = written.split("next:\n")
    lines = [line.strip() for line in commands.splitlines()]
    assert len(lines) == 4  # a change of the folder, and three commands
    printed = [terminals.type(typed(line)) for line in lines]
    assert "cm before the wall" in printed[2]
    cpp = languages is Languages.CPP
    assert ("0 tests failed out of 2" if cpp else "2 passed") in printed[3]
    assert (terminals.folder / "rover/gap_pb2.py").exists() != cpp


@pytest.mark.parametrize("languages", LANGUAGES)
def test_a_project_is_complete(languages: Languages, tmp_path: Path) -> None:
    made = project.create(tmp_path / "rover", languages)
    there = {str(path.relative_to(made.folder)) for path in made.folder.rglob("*")}
    assert set(made.files) == {one for one in there if (made.folder / one).is_file()}
    assert list(tmp_path.iterdir()) == [made.folder]
    for path in made.files:
        text = (made.folder / path).read_text()
        assert "my_robot" not in text, path
        assert "@BUILD@" not in text and "@TEST@" not in text and "\n@" not in text, path
        assert text.endswith("\n") and not text.endswith("\n\n"), path
    assert Plan.load(str(made.folder / "robot.yaml"), [], False).warnings == []
    steps = yaml.safe_load((made.folder / ".github/workflows/test.yml").read_text())
    lines = {step.get("name"): step.get("run") for step in steps["jobs"]["test"]["steps"]}
    assert [lines[name] for name in ("build", "run", "test")] == made.commands
    readme = (made.folder / "README.md").read_text()
    assert "\n".join(made.commands) in readme
    for line in readme.splitlines():
        if line.startswith("| `"):
            assert (made.folder / line.split("`")[1]).exists(), line


def test_each_template_is_used() -> None:
    there = {str(path.relative_to(project.TEMPLATES)) for path in project.TEMPLATES.rglob("*.in")}
    used = {
        f"{path.replace('/.', '/').removeprefix('.')}.in" for one in Languages for path in one.files
    }
    assert there == used


@pytest.mark.parametrize("languages", LANGUAGES)
def test_the_sources_of_a_project_have_the_style(languages: Languages, tmp_path: Path) -> None:
    made = project.create(tmp_path / "rover", languages)
    python = [path for path in made.files if path.endswith(".py")]
    for words in (["check", "--select", "E,F,W,I,N,UP,B"], ["format", "--check", "--diff"]):
        words += ["--isolated", "--line-length", "100"]
        tool = [sys.executable, "-m", "ruff", *words, *python]
        done = subprocess.run(tool, cwd=made.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    for path in (path for path in made.files if path.endswith(".cpp")):
        tool = [str(Path(sys.executable).with_name("clang-format")), "--dry-run", "--Werror"]
        tool += [f"--style=file:{ROOT}/.clang-format", path]
        done = subprocess.run(tool, cwd=made.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_an_installed_package_has_each_template(installed: Path) -> None:
    [there] = installed.glob("lib/python*/site-packages/hyphos/new/templates")
    for path in project.TEMPLATES.rglob("*.in"):
        assert (there / path.relative_to(project.TEMPLATES)).read_text() == path.read_text()


# --- Errors ---------------------------------------------------------------------------------------

WRONG = ["MyRobot", "my-robot", "3d", "class", "double", "test", "json", "hyphos", "x" * 33, "Ünï"]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_name_is_refused_with_a_right_one(
    name: str, hyphos_cli: Cli, tmp_path: Path
) -> None:
    code, out, err = hyphos_cli("new", name)
    assert (code, out) == (1, "")
    assert name in err
    better = err.split("hyphos new ")[1].strip()
    assert names.name_problem(better) == ""
    assert list(tmp_path.iterdir()) == []


def test_each_suggested_name_is_valid() -> None:
    chance = random.Random(7)
    letters = "abcXYZ019_-. äß/"
    for _ in range(2000):
        text = "".join(chance.choices(letters, k=chance.randrange(50)))
        assert names.name_problem(names.similar_name(text)) == "", text


def test_an_existing_folder_is_not_changed(hyphos_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "rover/notes.txt"
    file.parent.mkdir()
    file.write_text("mine")
    code, out, err = hyphos_cli("new", "rover", "--python")
    assert (code, out) == (1, "")
    assert "already_exists" not in err
    assert "a folder with files" in err
    assert [path.name for path in file.parent.iterdir()] == ["notes.txt"]
    assert list(tmp_path.iterdir()) == [file.parent]
    (tmp_path / "other").write_text("a file")
    assert "this is a file" in hyphos_cli("new", "other", "--python")[2]


def test_an_empty_folder_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rover").mkdir()
    monkeypatch.chdir(tmp_path / "rover")
    made = project.create(Path(), BOTH)
    assert Path("robot.yaml").read_text().count("robot: rover") == 1
    assert {path.name for path in Path().iterdir()} >= {"rover", "tests", ".github"}
    assert made.folder == tmp_path / "rover"


def test_a_missing_parent_is_named(hyphos_cli: Cli) -> None:
    code, _, err = hyphos_cli("new", "nowhere/rover", "--python")
    assert code == 1
    assert "mkdir -p" in err and "nowhere" in err


@pytest.mark.parametrize(
    ("languages", "words"),
    [
        (Languages.PYTHON, ["protoc", "apt install protobuf-compiler"]),
        (Languages.CPP, ["g++, cmake, make", "apt install g++ cmake make", "--python"]),
        (Languages.BOTH, ["g++, cmake, make", "apt install g++ cmake make", "--python"]),
    ],
)
def test_missing_programs_are_named_with_the_packages(
    languages: Languages, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Error) as caught:
        project.create(tmp_path / "rover", languages)
    text = f"{caught.value} {caught.value.advice}"
    assert [word for word in words if word not in text] == []
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_part_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []

    def write(path: Path, text: str) -> int:
        written.append(path)
        if len(written) == 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        return len(text)

    monkeypatch.setattr(Path, "write_text", write)
    with pytest.raises(Error, match="No space left"):
        project.create(tmp_path / "rover", BOTH)
    assert list(tmp_path.iterdir()) == []


def test_two_languages_at_once_are_refused(hyphos_cli: Cli, tmp_path: Path) -> None:
    code, _, err = hyphos_cli("new", "rover", "--python", "--cpp")
    assert code == 2
    assert "one of --python, --cpp and --both" in " ".join(err.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_a_moved_node_leaves_one_line_about_its_process(terminals: Terminals) -> None:
    terminals.type(typed("hyphos new rover --python"))
    terminals.type(typed("cd rover"))
    terminals.type(typed("hyphos msg python . -o ."))
    moved = "hyphos run robot.yaml --for 1 --set nodes.pilot.process=body"
    printed = terminals.type(typed(moved))
    lines = [line for line in printed.splitlines() if "mind" in line]
    assert len(lines) == 1, printed
    assert "processes.mind: no node is placed here, so `hyphos run` does not start it" in lines[0]


def test_cmake_names_the_missing_package(tmp_path: Path) -> None:
    made = project.create(tmp_path / "rover", BOTH)
    words = ["cmake", "-B", "build", "-DCMAKE_DISABLE_FIND_PACKAGE_hyphos=ON"]
    done = subprocess.run(words, cwd=made.folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "libhyphos-dev" in done.stderr and "CMAKE_PREFIX_PATH" in done.stderr
