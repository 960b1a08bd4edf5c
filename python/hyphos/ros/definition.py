"""Parses ROS interface definitions: .msg, .srv and .action files.

The two versions look alike, but differ in rules and meaning. ROS 1 is parsed like its genmsg
(wiki.ros.org/msg), ROS 2 like its rosidl_adapter ("About ROS 2 interfaces", design.ros2.org).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple, NoReturn, TypeVar

from hyphos._errors import Error
from hyphos.ros.literals import Value, array_value, scalar_value

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
PRIMITIVES = ("bool", "byte", "char", *INTEGERS, "float32", "float64", "string", "wstring")
TIMES = ("time", "duration")  # values in ROS 1, messages of builtin_interfaces in ROS 2

# The parts of a file, separated by lines of three dashes.
PARTS = {"msg": ("",), "srv": ("Request", "Response"), "action": ("Goal", "Result", "Feedback")}

# rosidl allows no more. genmsg leaves the check to C++ compilers, which allow no more either.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_FIELD_2 = re.compile(r"(?!.*__)(?!.*_$)[a-z][a-z0-9_]*")
_CONSTANT_2 = re.compile(r"(?!.*__)(?!.*_$)[A-Z][A-Z0-9_]*")
_MESSAGE_2 = re.compile(r"[A-Z][A-Za-z0-9]*")
_ARRAY = re.compile(r"(?P<base>[^\[]*)\[(?P<bound><=)?(?P<size>[0-9]*)\]")
_BOUNDED = re.compile(r"(?P<base>w?string)<=(?P<size>[0-9]+)")
_MOST = 2**32 - 1  # lengths are 32 bits wide on every wire

Read = TypeVar("Read")


class Flavour(Enum):
    ROS1 = "ros1"
    ROS2 = "ros2"

    def __str__(self) -> str:
        return "ROS 1" if self is Flavour.ROS1 else "ROS 2"


class Count(Enum):
    """The number of values in a field."""

    ONE = "one"
    FIXED = "fixed"
    AT_MOST = "at_most"
    ANY = "any"


class Name(NamedTuple):
    """The name of a type: sensor_msgs/LaserScan in ROS 1, sensor_msgs/msg/LaserScan in ROS 2."""

    package: str
    folder: str  # msg, srv or action
    base: str

    def text(self, flavour: Flavour) -> str:
        return f"{self.package}/{self.base}" if flavour is Flavour.ROS1 else "/".join(self)


@dataclass(frozen=True)
class Type:
    """The type of a field. Either `primitive` (of PRIMITIVES and TIMES) or `message` is set."""

    text: str  # as written, input of the ROS 1 md5
    primitive: str = ""
    message: Name | None = None
    count: Count = Count.ONE
    size: int = 0  # of FIXED and AT_MOST
    string_size: int = 0  # largest length of each string, 0: unlimited


@dataclass(frozen=True)
class Field:
    type: Type
    name: str
    default: Value | None = None
    comment: tuple[str, ...] = ()
    where: str = ""  # FILE:LINE


@dataclass(frozen=True)
class Constant:
    primitive: str
    name: str
    value: Value
    text: str  # the value as written, input of the ROS 1 md5
    comment: tuple[str, ...] = ()


@dataclass(frozen=True)
class Message:
    name: Name
    fields: tuple[Field, ...] = ()
    constants: tuple[Constant, ...] = ()
    comment: tuple[str, ...] = ()
    text: str = ""  # the text of the file
    where: str = ""


@dataclass(frozen=True)
class Interface:
    """The definitions of one file: a message, two parts of a service, or three of an action."""

    name: Name
    flavour: Flavour
    parts: tuple[Message, ...]

    @property
    def kind(self) -> str:
        return self.name.folder


def parse(text: str, name: Name, flavour: Flavour, where: str) -> Interface:
    """Parses one file. The folder in `name` is its kind. Errors have `where` and the line."""
    if flavour is Flavour.ROS2 and not _MESSAGE_2.fullmatch(name.base):
        _refuse(where, f"'{name.base}' is not a valid ROS 2 type name", "write it like LaserScan")
    if not _NAME.fullmatch(name.package):
        remedy = "name its folder, or <name> in package.xml, with letters, digits and _"
        _refuse(where, f"'{name.package}' is not a valid package name", remedy)
    if not _NAME.fullmatch(name.base):
        _refuse(where, f"'{name.base}' is not a valid type name", "use letters, digits and _")
    lines = text.replace("\r\n", "\n").split("\n")
    suffixes = PARTS[name.folder]
    parts, first = [], 1
    for suffix, piece in zip(suffixes, _split(lines, name, flavour, where), strict=True):
        joint = "_" if flavour is Flavour.ROS2 and suffix else ""
        part = name._replace(base=name.base + joint + suffix)
        parts.append(_Parser(part, flavour, where, first).read(piece))
        first += len(piece) + 1
    return Interface(name, flavour, tuple(parts))


def _split(lines: list[str], name: Name, flavour: Flavour, where: str) -> list[list[str]]:
    pieces: list[list[str]] = [[]]
    if name.folder == "msg":
        return [lines]
    wanted = len(PARTS[name.folder])
    for number, line in enumerate(lines, 1):
        # genmsg checks only the beginning of the line.
        if line.startswith("---") if flavour is Flavour.ROS1 else line.rstrip() == "---":
            pieces.append([])
            if len(pieces) > wanted:
                _refuse(f"{where}:{number}", *_parts_wanted(name.folder, "one '---' too many"))
        else:
            pieces[-1].append(line)
    if len(pieces) < wanted:
        missing = f"a '---' is missing: the file has {len(pieces)} of {wanted} parts"
        _refuse(f"{where}:{len(lines)}", *_parts_wanted(name.folder, missing))
    return pieces


def _parts_wanted(folder: str, message: str) -> tuple[str, str]:
    parts = ", ".join(part.lower() for part in PARTS[folder])
    return message, f"a .{folder} has {parts}, with a line '---' between them. Each may be empty"


def _refuse(where: str, message: str, advice: str) -> NoReturn:
    raise Error("invalid_config", message, where, advice)


class _Parser:
    """Parses the lines of one message."""

    def __init__(self, name: Name, flavour: Flavour, where: str, first_line: int) -> None:
        self._name = name
        self._flavour = flavour
        self._file = where
        self._first = first_line
        self._where = where
        self._elements: list[Field | Constant] = []
        self._known: set[tuple[type, str]] = set()
        self._pending: list[str] = []  # comments above the line that they describe

    def read(self, lines: list[str]) -> Message:
        top = next((n for n, one in enumerate(lines) if not one.startswith("#")), len(lines))
        header = [_uncomment(one) for one in lines[:top]]
        for number, line in enumerate(lines[top:], self._first + top):
            self._where = f"{self._file}:{number}"
            self._line(line)
        return Message(
            self._name,
            tuple(one for one in self._elements if isinstance(one, Field)),
            tuple(one for one in self._elements if isinstance(one, Constant)),
            _paragraphs([*header, "", *self._pending]),
            "\n".join(lines),
            f"{self._file}:{self._first}",
        )

    def _line(self, line: str) -> None:
        code, mark, comment = line.partition("#")
        if not code.strip():
            if mark and code and self._elements:  # indented: continues the comment above it
                last = self._elements[-1]
                more = _paragraphs([*last.comment, _uncomment(comment)])
                self._elements[-1] = replace(last, comment=more)
            elif mark or self._pending:
                self._pending.append(_uncomment(comment))
            return
        if code.lstrip().startswith("@"):
            self._refuse(f"annotations are not supported: '{code.strip()}'", "remove it")
        first, _, rest = code.strip().replace("\t", " ").partition(" ")
        rest = rest.strip()
        if not rest:
            self._refuse(
                f"'{first}' is a type or a name, but both are needed",
                "write TYPE NAME, e.g. float32 x",
            )
        above, self._pending = self._pending, []
        notes = _paragraphs([*above, _uncomment(comment)])
        if "=" not in rest and ("=" not in first or "<=" in first):
            self._field(first, rest, notes)
        elif first == "string" and not self._strict:
            # Such a constant has no comment: the whole rest of the line is the value.
            rest = rest.partition("=")[0] + "=" + line.partition("=")[2]
            self._constant(first, rest, _paragraphs(above))
        else:
            self._constant(first, rest, notes)

    def _constant(self, primitive: str, rest: str, notes: tuple[str, ...]) -> None:
        allowed = PRIMITIVES if self._strict else PRIMITIVES[:-1]
        if primitive not in allowed:
            self._refuse(
                f"'{primitive}' is not a type for constants", f"use one of {', '.join(allowed)}"
            )
        name, _, written = rest.partition("=")
        name, written = name.strip(), written.strip()
        if not (_CONSTANT_2 if self._strict else _NAME).fullmatch(name):
            self._refuse(f"'{name}' is not a valid constant name", "write it like MAX_RANGE")
        value = self._value(lambda: scalar_value(primitive, written, self._strict))
        self._add(Constant(primitive, name, value, written, notes))

    def _field(self, first: str, rest: str, notes: tuple[str, ...]) -> None:
        type_ = self._type(first)
        name, _, written = rest.partition(" ")
        if not (_FIELD_2 if self._strict else _NAME).fullmatch(name):
            remedy = "write it like angle_min" if self._strict else "use letters, digits and _"
            self._refuse(f"'{name}' is not a valid {self._flavour} field name", remedy)
        default = self._default(type_, name, written.strip())
        self._add(Field(type_, name, default, notes, self._where))

    def _default(self, type_: Type, name: str, written: str) -> Value | None:
        if not written:
            return None
        if not self._strict:
            self._refuse(
                f"'{written}' follows the field '{name}', but ROS 1 has no default values",
                "remove it, or import as --ros2",
            )
        if not type_.primitive:
            self._refuse(
                f"'{name}' is a message, which has no default value", f"remove '{written}'"
            )
        if type_.count is Count.ONE:
            return self._value(
                lambda: scalar_value(type_.primitive, written, True, type_.string_size)
            )
        values = self._value(
            lambda: array_value(type_.primitive, written, string_size=type_.string_size)
        )
        given = len(values)
        if type_.count is Count.FIXED and given != type_.size:
            self._refuse(
                f"'{name}' has {type_.size} values, but its default {given}", "give as many"
            )
        if type_.count is Count.AT_MOST and given > type_.size:
            self._refuse(
                f"'{name}' has at most {type_.size} values, but its default {given}", "give fewer"
            )
        return values

    def _type(self, text: str) -> Type:
        base, count, size = text, Count.ONE, 0
        if "[" in text or "]" in text:
            found = _ARRAY.fullmatch(text)
            if found is None or (found["bound"] and not (self._strict and found["size"])):
                bounded = ", T[<=3]" if self._strict else ""
                self._refuse(f"'{text}' is not a type", f"arrays are T[], T[3]{bounded}")
            base, size = found["base"], self._number(found["size"] or "0", text)
            count = Count.FIXED if found["size"] else Count.ANY
            count = Count.AT_MOST if found["bound"] else count
            if count is not Count.ANY and size == 0 and self._strict:
                self._refuse(f"'{text}' has the length 0", "give a length of 1 or more")
        bounded_string = _BOUNDED.fullmatch(base) if self._strict else None
        if bounded_string:
            longest = self._number(bounded_string["size"], text)
            if longest == 0:
                self._refuse(f"'{text}' has the length 0", "give a length of 1 or more")
            return Type(text, bounded_string["base"], None, count, size, longest)
        primitives = PRIMITIVES if self._strict else (*PRIMITIVES[:-1], *TIMES)
        if base in primitives:
            return Type(text, base, None, count, size)
        return Type(text, "", self._reference(base, text), count, size)

    def _reference(self, base: str, text: str) -> Name:
        if self._strict and base in TIMES:
            self._refuse(
                f"'{base}' is a type of ROS 1 only",
                f"write builtin_interfaces/{base.capitalize()}, or import as --ros1",
            )
        package, _, bare = base.rpartition("/")
        if not self._strict and base == "Header":
            package = "std_msgs"
        allowed = _MESSAGE_2 if self._strict else _NAME
        if not allowed.fullmatch(bare) or (package and not _NAME.fullmatch(package)):
            self._refuse(
                f"'{text}' is not a {self._flavour} type",
                "write a primitive type (float32, string, ...), Message or package/Message",
            )
        return Name(package or self._name.package, "msg", bare)

    @property
    def _strict(self) -> bool:
        return self._flavour is Flavour.ROS2

    def _number(self, digits: str, text: str) -> int:
        if len(digits) > 10 or int(digits) > _MOST:
            self._refuse(f"'{text}' is longer than any wire format allows", f"give at most {_MOST}")
        return int(digits)

    def _value(self, read: Callable[[], Read]) -> Read:
        try:
            return read()
        except ValueError as error:
            self._refuse(str(error), "write a value of this type")

    def _add(self, element: Field | Constant) -> None:
        key = (type(element), element.name)
        if key in self._known:
            what = "field" if isinstance(element, Field) else "constant"
            self._refuse(f"a {what} '{element.name}' already exists", "give it another name")
        self._known.add(key)
        self._elements.append(element)

    def _refuse(self, message: str, advice: str) -> NoReturn:
        _refuse(self._where, message, advice)


def _uncomment(line: str) -> str:
    return line.lstrip("#").rstrip()


def _paragraphs(lines: list[str]) -> tuple[str, ...]:
    """Removes empty lines at the ends, and keeps at most one between others."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)
