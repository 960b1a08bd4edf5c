"""Converts plain values of the command line without pydantic, whose import takes longer than most
commands run. Typer converts all other values, and reports each value that is wrong.
"""

from __future__ import annotations

import math
import os
import re
import stat
from pathlib import Path
from typing import Any, get_args, get_origin

from typer.core import TyperCommand, TyperGroup

# Longer numbers are left to typer.
_INTEGER = re.compile(r"[+-]?[0-9]{1,15}", re.ASCII)
_FLOAT = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{0,15})?(?:[eE][+-]?[0-9]{1,2})?", re.ASCII)


class _NotPlainError(Exception):
    """Typer must convert this value."""


class PlainCommand(TyperCommand):
    """A command whose parameters convert plain values themselves."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _prepared(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """The same for the parameters of a group. An unknown command in the words of ROS gets an
    answer."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _prepared(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            from hyphos.cli.ros_words import answer  # noqa: PLC0415

            if text := answer([] if ctx.parent is None else [ctx.info_name], args):
                ctx.fail(text)
        return super().resolve_command(ctx, args)


def _prepared(params: list[Any]) -> list[Any]:
    for param in params:
        # Older versions of typer have neither this member nor pydantic.
        if getattr(param, "_runtime_param", "absent") is None:
            param._runtime_param = _Plain()
    return params


class _Plain:
    """Replaces the converter of a parameter, which typer makes at its first use."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        kind = param.type_descriptor
        try:
            return _converted(value, kind.annotation, kind.parameter_info)
        except _NotPlainError:
            param._runtime_param = None
            return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _converted(value: Any, kind: Any, info: Any) -> Any:
    inner = get_args(kind)
    if get_origin(kind) is list and isinstance(value, (list, tuple)):
        return [_one(item, inner[0], info) for item in value]
    if get_origin(kind) is tuple and isinstance(value, (list, tuple)) and len(value) == len(inner):
        return tuple(_one(item, each, info) for item, each in zip(value, inner, strict=True))
    return _one(value, kind, info)


def _one(value: Any, kind: Any, info: Any) -> Any:
    if info.parser is not None:
        raise _NotPlainError
    if kind is str and isinstance(value, str):
        return value
    if kind in (int, float):
        return _number(value, kind, info)
    if kind is Path and isinstance(value, (str, Path)):
        return _path(Path(value), info)
    raise _NotPlainError


def _number(value: Any, kind: type[int] | type[float], info: Any) -> float:
    plain = _INTEGER if kind is int else _FLOAT
    if isinstance(value, str) and plain.fullmatch(value):
        number: float = kind(value)
    elif type(value) is kind or (kind is float and type(value) is int):
        number = kind(value)
    else:
        raise _NotPlainError
    if info.clamp or not math.isfinite(number):
        raise _NotPlainError
    if (info.min is not None and number < info.min) or (info.max is not None and number > info.max):
        raise _NotPlainError
    return number


def _path(path: Path, info: Any) -> Path:
    if info.resolve_path or info.path_type is not None or info.allow_dash:
        raise _NotPlainError
    try:
        mode = path.stat().st_mode
    except OSError:
        if info.exists:
            raise _NotPlainError from None
        return path
    except ValueError:  # NUL in the name
        raise _NotPlainError from None
    good = (
        (info.file_okay or not stat.S_ISREG(mode))
        and (info.dir_okay or not stat.S_ISDIR(mode))
        and (not info.readable or os.access(path, os.R_OK))
        and (not info.writable or os.access(path, os.W_OK))
    )
    if not good:
        raise _NotPlainError
    return path
