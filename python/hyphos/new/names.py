"""The name of a project. It names a folder, a robot, a package of messages and a CMake project."""

from __future__ import annotations

import keyword
import re
import sys

_LONGEST = 32
_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{_LONGEST - 1}}}", re.ASCII)
# Keywords of C++, protobuf and CMake, and files and targets of the project itself.
_TAKEN = """
alignas alignof and_eq asm auto bitand bitor bool build catch char compl concept const double
consteval constexpr constinit decltype default delete do dynamic_cast enum explicit export extern
float friend goto google hyphos inline int int32 int64 long main message mutable namespace new
noexcept nullptr operator or_eq package packages pilot private protected public pytest register
reinterpret_cast requires short signed sizeof static static_assert static_cast std string struct
switch template test tests this throw true typedef typeid typename uint32 uint64 union unsigned
using virtual void volatile wchar_t world xor xor_eq
"""


def name_problem(name: str) -> str:
    """Why a project cannot have this name, or ""."""
    if len(name) > _LONGEST:
        return f"the name has {len(name)} characters, at most {_LONGEST} are possible"
    if not _NAME.fullmatch(name):
        return "a name has small letters, digits and '_', and begins with a letter"
    if name in _TAKEN.split() or keyword.iskeyword(name) or name in sys.stdlib_module_names:
        return "the name has a meaning in Python, C++, CMake, protobuf or the project itself"
    return ""


def similar_name(name: str) -> str:
    """A valid name that is close to an invalid one."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)  # MyRobot
    plain = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
    plain = plain if plain[:1].isalpha() else f"robot_{plain}".rstrip("_")
    plain = plain[:_LONGEST].rstrip("_")
    return plain if not name_problem(plain) else f"my_{plain}"[:_LONGEST].rstrip("_")
