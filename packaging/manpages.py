"""Writes the man pages and the shell completion of the programs.

manpages.py OUT PROGRAM...: writes OUT/man/*.1.gz for the command `hyphos`, for each of its
subcommands, and for each PROGRAM from its `--help`. Writes the completion of bash, zsh and fish to
OUT/completion. The date of the pages is SOURCE_DATE_EPOCH.
"""

from __future__ import annotations

import gzip
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hyphos.cli.main import make_app
from typer._completion_shared import get_completion_script
from typer.main import get_command

# The names under which shells look for a completion.
COMPLETION = {"bash": "hyphos", "zsh": "_hyphos", "fish": "hyphos.fish"}
# Programs with the options of a subcommand share its page.
SAME_OPTIONS = {
    "hyphos-gateway": "hyphos-gateway PROTOCOL [OPTIONS]",
    "hyphos-view": "hyphos-view [ROBOT.yaml|RECORDING.mcap] [OPTIONS]",
}
SEE_ALSO = {"hyphos-host": "hyphos-run", "hyphos-link": "hyphos-lab-run"}
_TYPES = {"str": "TEXT", "int": "N", "int range": "N", "float": "X", "float range": "X"}


def roff(text: str) -> str:
    """Text in which nothing is a request or an escape of roff. `code` becomes bold."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"`([^`\n]+)`", r"\\fB\1\\fR", text)
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def blocks(text: str) -> list[str]:
    return [" ".join(block.split()) for block in re.split(r"\n\s*\n", text.strip()) if block]


def paragraphs(text: str) -> str:
    return "\n.PP\n".join(roff(block) for block in blocks(text))


def literal(text: str) -> str:
    return f".nf\n{roff(text.rstrip())}\n.fi"


class Page:
    """A page of section 1."""

    def __init__(self, name: str, about: str, epoch: int, version: str) -> None:
        self.name = name
        date = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d")
        about = " ".join(about.split()).rstrip(".")
        self._parts = [
            f'.TH {name.upper()} 1 "{date}" "Hyphos {version}" "Hyphos"',
            f".SH NAME\n{roff(name)} \\- {roff(about)}",
        ]

    def section(self, title: str, text: str) -> None:
        if text:
            self._parts.append(f".SH {title}\n{text}")

    def text(self) -> str:
        return "\n".join(self._parts) + "\n"


def metavar(word: str) -> str:
    """The placeholder of a value: typer 0.29 writes `<list[Path]>` or `{name}`."""

    def named(found: re.Match[str]) -> str:
        kind = found[1].removeprefix("list[").removesuffix("]")
        return _TYPES.get(kind, kind.upper())

    return re.sub(
        r"\{([^{}]+)\}", lambda found: found[1].upper(), re.sub(r"<([^>]+)>", named, word)
    )


def _records(command: Any, context: Any, kind: str) -> str:
    entries = []
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is None or param.param_type_name != kind:
            continue
        name, about = record
        if kind == "argument":
            name = (param.metavar or param.name).upper()
        entries.append(f".TP\n\\fB{roff(metavar(name))}\\fR\n{paragraphs(about)}")
    return "\n".join(entries)


def _first_sentence(text: str) -> str:
    """One sentence, or the part of a long one before its explanation."""
    text = " ".join(text.split())
    return re.split(r"\. (?=[A-Z`])|: ", text, maxsplit=1)[0]


def command_pages(
    command: Any, name: str, epoch: int, version: str, parent: Any = None
) -> Iterator[Page]:
    """The page of a command and those of its subcommands."""
    context = command.context_class(
        command, info_name=name, parent=parent, **command.context_settings
    )
    title = context.command_path.replace(" ", "-")
    text = inspect.cleandoc(command.help or "")
    page = Page(title, _first_sentence(blocks(text)[0]), epoch, version)
    words = " ".join(metavar(word) for word in command.collect_usage_pieces(context))
    usages = [f"{context.command_path} {words}", SAME_OPTIONS.get(title, "")]
    page.section("SYNOPSIS", "\n.br\n".join(f"\\fB{roff(one)}\\fR" for one in usages if one))
    examples = [block for block in blocks(text) if block.startswith("hyphos ")]
    described = [block for block in blocks(text) if block not in examples]
    page.section("DESCRIPTION", paragraphs("\n\n".join(described)))
    page.section("ARGUMENTS", _records(command, context, "argument"))
    page.section("OPTIONS", _records(command, context, "option"))
    shown = {
        key: one for key, one in sorted(getattr(command, "commands", {}).items()) if not one.hidden
    }
    entries = [
        f".TP\n\\fB{roff(key)}\\fR\n{roff(blocks(one.help)[0])}" for key, one in shown.items()
    ]
    page.section("COMMANDS", "\n".join(entries))
    page.section("EXAMPLES", literal("\n".join(examples)) if examples else "")
    page.section("NOTES", paragraphs(command.epilog or ""))
    others = [f"{title}-{key}" for key in shown]
    if parent is not None:
        others.insert(0, parent.command_path.replace(" ", "-"))
    page.section("SEE ALSO", ", ".join(f"\\fB{roff(one)}\\fR(1)" for one in others))
    yield page
    for key, one in shown.items():
        yield from command_pages(one, key, epoch, version, context)


def program_page(program: Path, epoch: int, version: str) -> Page:
    """The page of a native program: its usage, and the text below."""
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    found = re.fullmatch(r"usage: (.+?)\n(?! )(.+)", done.stdout, re.DOTALL)
    if found is None:
        sys.exit(f"{program} --help prints no line `usage: ` with a text below")
    usage, text = found.groups()
    about, _, rest = text.partition("\n\n")
    page = Page(program.name, _first_sentence(about), epoch, version)
    page.section("SYNOPSIS", f"\\fB{roff(' '.join(usage.split()))}\\fR")
    page.section("DESCRIPTION", paragraphs(about))
    page.section("OPTIONS", literal(rest) if rest.strip() else "")
    page.section("SEE ALSO", f"\\fB{roff(SEE_ALSO[program.name])}\\fR(1)")
    return page


def pages(programs: Sequence[Path], epoch: int, version: str) -> list[Page]:
    return [
        *command_pages(get_command(make_app()), "hyphos", epoch, version),
        *(program_page(program, epoch, version) for program in programs),
    ]


def completion(shell: str) -> str:
    """The script that a shell loads. It asks the installed command for the words."""
    script = get_completion_script(prog_name="hyphos", complete_var="_HYPHOS_COMPLETE", shell=shell)
    return script.strip() + "\n"


def main() -> None:
    out, *programs = map(Path, sys.argv[1:])
    epoch, version = int(os.environ["SOURCE_DATE_EPOCH"]), os.environ["HYPHOS_VERSION"]
    (out / "man").mkdir(parents=True, exist_ok=True)
    (out / "completion").mkdir(exist_ok=True)
    for page in pages(programs, epoch, version):
        packed = gzip.compress(page.text().encode(), compresslevel=9, mtime=0)
        (out / "man" / f"{page.name}.1.gz").write_bytes(packed)
    for shell, name in COMPLETION.items():
        (out / "completion" / name).write_text(completion(shell))


if __name__ == "__main__":
    main()
