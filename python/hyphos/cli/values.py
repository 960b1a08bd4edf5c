"""Refuses option values that cannot work, while the command line is parsed.

No command has started then. Further rules of a single option are declared at that option."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer

from hyphos.cli.plain import PlainCommand

MOST = 1e9  # seconds, hertz, megabytes: more is a typing error and overflows system types
MOST_INTEGER = 2**53
MOST_SEED = 2**63 - 1  # for values that are passed on unchanged
_DOMAIN = re.compile(r"[A-Za-z0-9_-]{1,32}")
# No option begins like this. A list in YAML may begin with "- ".
_NEGATIVE = re.compile(r"-(?:[0-9.\s]|(?:inf|Inf|INF|Infinity)$)")
_MAY_BE_ZERO = {"wait", "grace", "start"}


class Checked(PlainCommand):
    """A command that checks all of its values as soon as they are parsed."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for param in self.params:
            if _is_empty(param, args):
                problem = "the value is empty: give a value, or omit the option"
                raise typer.BadParameter(problem, ctx=ctx, param=param)  # type: ignore[arg-type]
        rest = super().parse_args(ctx, args)
        for param in self.params:
            value = ctx.params.get(param.name or "")
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if problem := problem_of(param, one):
                    raise typer.BadParameter(problem, ctx=ctx, param=param)  # type: ignore[arg-type]
        return rest


class ValueCommand(Checked):
    """A command with a value among its arguments: -0.5 and -.inf are values, not options."""

    def make_parser(self, ctx: Any) -> Any:
        parser: Any = super().make_parser(ctx)
        options = parser._process_opts

        def process(word: str, state: Any) -> None:
            if _NEGATIVE.match(word):
                state.largs.append(word)
            else:
                options(word, state)

        parser._process_opts = process
        return parser


def _is_empty(param: Any, args: list[str]) -> bool:
    """True if a value is empty. An empty text is no file, number or name, but may be a default."""
    if param.default == "" or getattr(param, "is_flag", False):
        return False
    long = [name for name in param.opts if name.startswith("--")]
    after = [value for name, value in pairwise(args) if name in param.opts]
    for word in args:
        name, equals, value = word.partition("=")
        if equals and name in long:
            after.append(value)
    return any(not value.strip() for value in after)


def problem_of(param: Any, value: Any) -> str:
    """The reason why a value is refused, or ""."""
    if value is None or isinstance(value, bool) or value == param.default:
        return ""
    if isinstance(value, (int, float)):
        return _number(param, value)
    if isinstance(value, Path):
        return _path(value)
    if isinstance(value, str):
        return _text(param, value)
    return ""


def _number(param: Any, value: float) -> str:
    most = MOST_INTEGER if isinstance(value, int) else MOST
    most = MOST_SEED if param.name in ("base_ns", "seed") else most
    if not math.isfinite(value):
        return f"{value} is not a finite number"
    if param.nargs != 1:  # coordinates
        return "" if abs(value) <= MOST else f"{value:g} is too large: the maximum is {MOST:g}"
    range_of = getattr(param, "type", param)  # Typer 0.7 has the limits in the type of the option
    least, largest = (getattr(range_of, end, None) for end in ("min", "max"))
    zero = least is not None or param.default == 0 or param.name in _MAY_BE_ZERO
    if value < 0 or (value == 0 and not zero):
        return f"{value:g} is too small: give a value above 0" + (", or 0" if zero else "")
    if value > most and largest is None:
        return f"{value:g} is too large: the maximum is {most:g}"
    return ""


def _path(value: Path) -> str:
    if any(character in str(value) for character in "\0\n"):
        return "a file name cannot contain line ends or NUL"
    for parent in value.parents:
        if parent.exists() and not parent.is_dir():
            return f"'{parent}' is a file, so it cannot contain another file"
    return ""


def _text(param: Any, value: str) -> str:
    return _domain(value) if param.name == "domain" else ""


def _domain(value: str) -> str:
    if _DOMAIN.fullmatch(value):
        return ""
    return f"'{value}' is not a domain: use 1 to 32 letters, digits, '_' and '-'"


def checked_domain(value: str) -> str:
    """For groups that are also commands. Checked does not see the options of a group."""
    if problem := _domain(value):
        raise typer.BadParameter(problem)
    return value


def domain_of(variable: str, value: str) -> str:
    """The value of an environment variable, if it is a domain."""
    if problem := _domain(value):
        raise typer.BadParameter(f"{variable}: {problem}")
    return value
