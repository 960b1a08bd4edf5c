"""Types the commands of a page into terminals, and compares the outputs that the page shows.

A page without prompts has one machine. A prompt such as `robot@body$` names another one. A robot
that `hyphos run` starts without `--for` goes on until the next `hyphos run` on the same machine, or
until the end of the page, as if the reader had two terminals.
"""

from __future__ import annotations

import os
import re
import selectors
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from doc_blocks import Block, is_console

OF_ONE_DOMAIN = r"hyphos (channel|node|param|service|msg (list|show)) \S+"
SLOW_START = r"hyphos (channel echo|param \w+|service call)"
SECONDS_OF_RUN = 20  # where a page has 5: a start takes seconds on a busy machine
PROMPT = re.compile(r"^(?:robot@(\w+))?\$ +")
QUIET_S = 1.0  # a robot whose output stops for so long has started


class PageError(AssertionError):
    """A command of a page failed, or its output is not that of the page."""


@dataclass(frozen=True)
class Typed:
    """A command of a page, with the lines that the page shows below it."""

    block: Block
    machine: str  # "" without a name in the prompt
    line: str
    shown: tuple[str, ...] = ()

    @property
    def goes_on(self) -> bool:
        """True for a program that runs until Ctrl-C."""
        runs = re.match(r"hyphos run \S+", self.line) and "--for" not in self.line
        return bool(runs or re.match(r"(python3? \S+\.py|build/\S+)$", self.line))


def typed_of(block: Block) -> Iterator[Typed]:
    """The commands of a block. In a block `sh` each line is one, elsewhere a prompt precedes it."""
    text = block.text.replace("\\\n", " ")
    if block.language == "sh":
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                yield Typed(block, "", line.strip())
        return
    found: list[tuple[str, str, list[str]]] = []
    for line in text.splitlines():
        prompt = PROMPT.match(line)
        if prompt:
            found.append((prompt[1] or "", line[prompt.end() :].strip(), []))
        elif found and line.strip():
            found[-1][2].append(line)
    for machine, line, shown in found:
        yield Typed(block, machine, line, tuple(shown))


def steps_of(blocks: Sequence[Block]) -> Iterator[Block | Typed]:
    """The files and the commands of a page, in its order."""
    for block in blocks:
        if block.file:
            yield block
        elif not block.why_not_run and (block.language == "sh" or is_console(block)):
            yield from typed_of(block)


def looks_like(shown: str, printed: str) -> bool:
    """True if a printed line is the shown one. Numbers and the width of spaces may differ."""
    words = re.split(r"(\s+|-?\d+(?:[.,]\d+)*|…)", shown.strip())
    parts = [
        r"\s+" if word.isspace() else r"-?\d[\d.,]*" if word[-1:].isdigit() else
        ".*" if word == "…" else re.escape(word)
        for word in words if word
    ]  # fmt: skip
    return re.search("".join(parts), printed) is not None


def not_printed(shown: Sequence[str], output: str) -> str | None:
    """The first shown line that the output does not have, in order."""
    printed = iter(output.splitlines())
    for line in shown:
        if not any(looks_like(line, one) for one in printed):
            return line
    return None


@dataclass
class Going:
    """A program that runs until Ctrl-C."""

    typed: Typed
    process: subprocess.Popen[str]
    output: str = ""


@dataclass
class Terminals:
    """Terminals on one or more machines, in one folder. They keep `cd` and `export`."""

    folder: Path
    environment: dict[str, str]
    enter: Callable[[str], Sequence[str]] = lambda _: ()  # the words that enter a machine
    change: Callable[[str], str] = lambda line: line  # of a command, before it is typed
    patience_s: float = 120.0
    _going: list[Going] = field(default_factory=list)

    def write(self, block: Block) -> Path:
        path = self.folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
        return path

    def type(self, typed: Typed) -> str:
        """Returns the output of a command. Raises PageError if it fails or differs."""
        if re.match(r"hyphos (run|replay) ", typed.line):
            self.stop(typed.machine)
        output = self._start(typed) if typed.goes_on else self._finish(typed)
        absent = not_printed(typed.shown, output)
        if absent is not None:
            raise PageError(f"{typed.block}: {typed.line}\n{output}\nnot printed: {absent}")
        return output

    def stop(self, machine: str | None = None) -> None:
        """Types Ctrl-C in the terminals of a machine, or in all."""
        going = [one for one in self._going if machine in (None, one.typed.machine)]
        self._going = [one for one in self._going if one not in going]
        for one in going:
            one.process.send_signal(signal.SIGINT)
        for one in going:
            try:
                rest, _ = one.process.communicate(timeout=self.patience_s)
            except subprocess.TimeoutExpired:
                one.process.kill()
                rest, _ = one.process.communicate()
            if one.process.returncode not in (0, 130):
                code = one.process.returncode
                raise PageError(f"{one.typed.line} ended with {code}\n{one.output}{rest}")

    def kill(self) -> None:
        """Ends all programs at once."""
        for one in self._going:
            one.process.kill()
            one.process.communicate()
        self._going.clear()

    def _words(self, typed: Typed, script: str) -> list[str]:
        # A program in another mount namespace begins in its root folder.
        here = f"cd {shlex.quote(str(self.folder))}\n"
        return [*self.enter(typed.machine), "bash", "-c", here + script]

    def _finish(self, typed: Typed) -> str:
        with tempfile.NamedTemporaryFile(dir=self.folder.parent) as state:
            script = f"{self.change(typed.line)}\ncode=$?\n"
            script += f"{{ pwd; env -0; }} >{shlex.quote(state.name)}\nexit $code"
            done = subprocess.run(
                self._words(typed, script), cwd=self.folder, env=self.environment, text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=5 * self.patience_s, check=False,
            )  # fmt: skip
            self._keep(Path(state.name).read_text())
        good = (0, 1) if typed.line == "hyphos doctor" else (0,)
        if done.returncode not in good:
            raise PageError(f"{typed.block}: {typed.line}\n{done.stdout}exit {done.returncode}")
        return done.stdout

    def _keep(self, state: str) -> None:
        folder, _, variables = state.partition("\n")
        if folder:
            self.folder = Path(folder)
            pairs = (one.partition("=") for one in variables.split("\0") if "=" in one)
            self.environment = {name: value for name, _, value in pairs}

    def _start(self, typed: Typed) -> str:
        line = self.change(typed.line)
        with tempfile.NamedTemporaryFile(dir=self.folder.parent) as events:
            is_run = line.startswith("hyphos run ")
            if is_run:
                words = rf"\g<0> --events {shlex.quote(events.name)}"
                line = re.sub(r"^hyphos run \S+", words, line)
            process = subprocess.Popen(
                self._words(typed, f"exec {line}"), cwd=self.folder, env=self.environment,
                text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )  # fmt: skip
            going = Going(typed, process)
            self._going.append(going)
            self._read_start(going, Path(events.name) if is_run else None)
        return going.output

    def _read_start(self, going: Going, events: Path | None) -> None:
        """Reads until the output pauses, as a reader does who then turns to the next terminal. Of a
        robot, all processes are ready then.
        """
        assert going.process.stdout is not None
        os.set_blocking(going.process.stdout.fileno(), False)
        deadline = time.monotonic() + self.patience_s

        def ready() -> bool:
            return events is None or '"event": "ready"' in events.read_text()

        with selectors.DefaultSelector() as wait:
            wait.register(going.process.stdout, selectors.EVENT_READ)
            while time.monotonic() < deadline:
                if not wait.select(QUIET_S):
                    if ready():
                        break
                    continue
                text = os.read(going.process.stdout.fileno(), 65536).decode(errors="replace")
                if not text:
                    code = going.process.wait()
                    raise PageError(f"{going.typed.line} ended with {code}\n{going.output}")
                going.output += text
        if not ready():
            raise PageError(f"{going.typed.line} did not start\n{going.output}")
        os.set_blocking(going.process.stdout.fileno(), True)


def plain_environment(root: Path, home: Path, more: Mapping[str, str]) -> dict[str, str]:
    """The environment of a reader: an own home, and no program of the clone on the path."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"HOME": str(home), "CLONE": str(root), "PATH": path, "LANG": "C.UTF-8", **more}


def in_domain(line: str, domain: str, patience_s: float) -> str:
    """The same command in a domain of its own, with patience for a busy machine."""
    line = re.sub(rf"^{OF_ONE_DOMAIN}", rf"\g<0> -d {domain}", line)
    line = re.sub(rf"^{SLOW_START}", rf"\g<0> --timeout {patience_s:.0f}", line)
    line = re.sub(r"^hyphos run \S+", rf"\g<0> --set domain={domain} --logs logs", line)
    line = re.sub(r"^(hyphos run .*--for) \d+", rf"\g<1> {SECONDS_OF_RUN}", line)
    return re.sub(r"^(python \S+\.py|build/\S+)", rf"\g<0> --hyphos-domain {domain}", line)
