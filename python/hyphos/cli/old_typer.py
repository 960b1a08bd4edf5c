"""Makes typer 0.7 of Debian 12 read options from `Annotated`, as typer 0.9 and later do.

typer 0.7 reads `name: T = Option(default, "--name")`. The commands here are written as
`name: Annotated[T, Option("--name")] = default`. Only the program `hyphos` imports hyphos.cli, so
that no other user of typer in the process is affected.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from copy import copy
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer
import typer.core
import typer.main
from typer.models import OptionInfo, ParameterInfo, ParamMeta


def extend() -> None:
    """Changes typer in this process. Call it before any option is declared."""
    for name in ("Option", "Argument"):
        setattr(typer, name, _with_optional_default(getattr(typer, name)))
    vars(typer.main)["get_params_from_function"] = _params_of
    # Later versions draw no frames if rich_markup_mode is None. This one draws them if rich exists.
    vars(typer.core)["rich"] = None


def _with_optional_default(declare: Callable[..., Any]) -> Callable[..., Any]:
    def declared(default: Any = ..., *names: str, **settings: Any) -> Any:
        return declare(default, *names, **settings)

    return declared


def _params_of(function: Callable[..., Any]) -> dict[str, ParamMeta]:
    hints = get_type_hints(function, include_extras=True)
    found = {}
    for param in inspect.signature(function).parameters.values():
        annotation = hints.get(param.name, param.annotation)
        default = param.default
        if get_origin(annotation) is Annotated:
            annotation, *notes = get_args(annotation)
            infos = [note for note in notes if isinstance(note, ParameterInfo)]
            if infos:
                default = _info(infos[0], default)
        found[param.name] = ParamMeta(
            name=param.name, default=default, annotation=_optional(annotation)
        )
    return found


def _info(annotated: ParameterInfo, default: Any) -> ParameterInfo:
    """The declaration with its default. In `Annotated`, the first argument is a name."""
    info = copy(annotated)
    if isinstance(info, OptionInfo) and info.default is not ...:
        info.param_decls = (str(info.default), *(info.param_decls or ()))
    info.default = ... if default is inspect.Parameter.empty else default
    return info


def _optional(annotation: Any) -> Any:
    """`T | None` as Optional[T], the only union that typer 0.7 knows."""
    if isinstance(annotation, types.UnionType):
        return Union[get_args(annotation)]  # noqa: UP007
    return annotation
