"""The listings of plans, messages, the command line and the Python interface, as this build has
them.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hyphos
from goldens import ROOT, Listing
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorSet
from hyphos import testing
from hyphos._hyphos import Plan
from hyphos.cli.main import make_app
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

# --- Plans --------------------------------------------------------------------------------------

_BESIDE = "PLANS"  # stands for the folder of the plans, which depends on the machine


def plans(folder: Path) -> Listing:
    """The JSON of each kept plan. A file `part_…` is included by another one."""
    found: Listing = {}
    for path in sorted(folder.resolve().glob("*.yaml")):
        if not path.name.startswith("part_"):
            text = Plan.load(str(path), [], False).json()
            found[path.name] = json.loads(text.replace(str(folder.resolve()), _BESIDE))
    return found


def bag_info(folder: Path) -> Listing:
    """The output of `hyphos bag info --json` for each kept recording."""
    found: Listing = {}
    for path in sorted(folder.glob("*.mcap")):
        done = CliRunner().invoke(make_app("bag"), ["bag", "info", "--json", str(path)])
        [info] = json.loads(done.stdout.replace(str(path), path.name))
        info["warnings"] = len(info["warnings"])  # their texts are for people
        found[path.name] = info | {"exit code": done.exit_code}
    return found


# --- Messages -----------------------------------------------------------------------------------


def messages() -> Listing:
    """Number, label and type of every field of the protobuf messages in proto/."""
    folder = ROOT / "proto"
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.proto"))
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "set"
        subprocess.run(["protoc", f"-I{folder}", f"-o{out}", *files], check=True)
        descriptors = FileDescriptorSet.FromString(out.read_bytes())
    found: Listing = {}
    for file in descriptors.file:
        for message in file.message_type:
            found |= _message(f"{file.package}.{message.name}", message)
        for enum in file.enum_type:
            found |= {f"{file.package}.{enum.name}.{one.name}": one.number for one in enum.value}
        for extension in file.extension:
            found[f"{file.package}.{extension.name}"] = _field(extension)
    return found


def _message(name: str, message: DescriptorProto) -> Listing:
    found: Listing = {f"{name}.{field.name}": _field(field) for field in message.field}
    for enum in message.enum_type:
        found |= {f"{name}.{enum.name}.{one.name}": one.number for one in enum.value}
    for nested in message.nested_type:
        found |= _message(f"{name}.{nested.name}", nested)
    return {name: "message"} | found


def _field(field: FieldDescriptorProto) -> str:
    if field.proto3_optional:
        label = "present or absent"
    else:
        label = FieldDescriptorProto.Label.Name(field.label).removeprefix("LABEL_").lower()
    kind = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    return f"{field.number} {label} {field.type_name.removeprefix('.') or kind}"


# --- The command line ---------------------------------------------------------------------------


def command_line() -> Listing:
    """Every command, and every option and argument of it. Each name of an option is a part, so a
    further name is an addition."""
    found: Listing = {}
    for words, command in _commands(get_command(make_app()), ("hyphos",)):
        name = " ".join(words)
        found[name] = "group" if isinstance(command, TyperGroup) else "command"
        position = 0
        for param in command.params:
            if getattr(param, "hidden", False) or param.name == "help":
                continue
            text = _parameter(param)
            if param.opts[0].startswith("-"):
                found |= {f"{name} {option}": text for option in param.opts}
                found |= {f"{name} {option}": "the opposite" for option in param.secondary_opts}
            else:
                position += 1
                found[f"{name} argument {position}"] = text
    return found


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    if isinstance(command, TyperGroup):
        for name, below in sorted(command.commands.items()):
            if not below.hidden:
                yield from _commands(below, (*words, name))


def _parameter(param: Any) -> str:
    """Type, default and range: "int, 0 or more, default 4096"."""
    annotation = param.type_descriptor.annotation
    kind = getattr(annotation, "__name__", "") if isinstance(annotation, type) else ""
    parts = [kind or str(annotation).replace("pathlib.", "")]
    if param.nargs not in (1, -1):
        parts.append(f"{param.nargs} values")
    for limit, word in ((param.min, "or more"), (param.max, "or less")):
        if limit is not None:
            parts.append(f"{limit} {word}")
    parts.append("required" if param.required else f"default {_default(param.default)}")
    return ", ".join(parts)


def _default(value: Any) -> str:
    return "none" if value is None else str(value)


# --- Python -------------------------------------------------------------------------------------

_SPECIAL = ("__init__", "__enter__", "__exit__", "__len__", "__getitem__", "__iter__", "__call__")


def python_api() -> Listing:
    """Every public name of the package and of hyphos.testing, its members, and the parameters of
    each function."""
    found: Listing = {}
    names = {name: getattr(hyphos, name) for name in hyphos.__all__}
    names |= {f"testing.{name}": getattr(testing, name) for name in testing.__all__}
    for name, value in sorted(names.items()):
        if inspect.isclass(value):
            found[name] = "class"
            for member in sorted(dir(value)):
                if member in _SPECIAL or not member.startswith("_"):
                    for own in _own(value, member):
                        found |= _member(f"{name}.{member}", own)
        else:
            found |= _member(name, value)
    return found


def _own(value: type, member: str) -> list[Any]:
    """The member, if a class of Hyphos has it and not a class of Python."""
    home = next(each for each in value.__mro__ if member in vars(each))
    return [vars(home)[member]] if home.__module__.startswith("hyphos") else []


def _member(name: str, value: Any) -> Listing:
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if not callable(value):
        return {name: "attribute"}
    found: Listing = {}
    for number, parameters in enumerate(_signatures(value)):
        if "core" in parameters:  # an object that only other functions of the package make
            continue
        shown = name if number == 0 else f"{name} #{number + 1}"
        required = [one for one, text in parameters.items() if text.startswith("required")]
        found[f"{shown}()"] = f"requires {', '.join(required) or 'nothing'}"
        found |= {f"{shown}({one})": text for one, text in parameters.items()}
    return found


def _signatures(function: Callable[..., Any]) -> Iterator[dict[str, str]]:
    """The parameters of each overload, without types. A type may become wider."""
    native = getattr(function, "__nb_signature__", None)
    if native is None:
        yield _parameters(inspect.signature(function))
        return
    for text, _, defaults in native:
        plain = text
        for number in reversed(range(len(defaults or ()))):  # "\\0" stands for the first default
            plain = plain.replace(f"\\{number}", _shown(defaults[number]))
        [parsed] = ast.parse(f"{plain}: ...").body
        assert isinstance(parsed, ast.FunctionDef)
        yield _parsed(parsed.args)


def _parameters(signature: inspect.Signature) -> dict[str, str]:
    found = {}
    for position, one in enumerate(signature.parameters.values()):
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            found[one.name] = "any further"
        elif position or one.name != "self":
            place = "keyword" if one.kind == one.KEYWORD_ONLY else f"position {position}"
            default = None if one.default is one.empty else _shown(one.default)
            found[one.name] = _described(place, default)
    return found


def _parsed(arguments: ast.arguments) -> dict[str, str]:
    found = {}
    positional = [*arguments.posonlyargs, *arguments.args]
    without = len(positional) - len(arguments.defaults)
    for position, one in enumerate(positional):
        default = None if position < without else arguments.defaults[position - without]
        if position or one.arg != "self":
            found[one.arg] = _described(f"position {position}", _text(default))
    for one, keyword in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found[one.arg] = _described("keyword", _text(keyword))
    for more in filter(None, (arguments.vararg, arguments.kwarg)):
        found[more.arg] = "any further"
    return found


def _text(default: ast.expr | None) -> str | None:
    return None if default is None else ast.unparse(default)


def _shown(default: Any) -> str:
    plain = default is None or isinstance(default, (bool, int, float, str, tuple))
    return repr(default) if plain else "..."


def _described(place: str, default: str | None) -> str:
    return f"required, {place}" if default is None else f"default {default}, {place}"


# --- Numbers ------------------------------------------------------------------------------------

_NUMBERS = (
    ("include/hyphos/node.hpp", "kPluginAbi", r"kPluginAbi = (\d+)"),
    ("wire/control.hpp", "kLinkVersion", r"kLinkVersion = (\d+)"),
    ("wire/control.hpp", "kBeaconVersion", r"kBeaconVersion = (\d+)"),
    ("shm/layout.hpp", "kLayoutVersion", r"kLayoutVersion = (\d+)"),
    ("trace/area.hpp", "kVersion", r"kVersion = (\d+)"),
    ("clients/c/include/hyphos_c.h", "HYPHOS_ABI", r"define HYPHOS_ABI (\d+)"),
    ("cosim/adapter/cosim_adapter.h", "HYPHOS_COSIM_ABI", r"define HYPHOS_COSIM_ABI (\d+)"),
    ("python/hyphos/supervise/link.py", "PROTOCOL", r"^PROTOCOL = (\d+)"),
)


def numbers() -> Listing:
    """The number of every numbered interface, from the source."""
    found: Listing = {}
    for file, name, pattern in _NUMBERS:
        number = re.search(pattern, (ROOT / file).read_text(), re.MULTILINE)
        assert number, f"{file} has no {name}"
        found[f"{file} {name}"] = int(number[1])
    return found
