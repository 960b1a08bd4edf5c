"""The outer rooms use no `hyphos::detail`, which may change in any version.

An outer room may have a `detail` namespace of its own, e.g. `hyphos::lab::detail`. A name after
`detail::` must then be declared in a `namespace detail` of the same room. Run by ctest. Needs only
Python.
"""

import re
import unittest
from collections.abc import Iterable
from pathlib import Path

import rooms

ROOT = Path(__file__).resolve().parents[2]
OUTER = (
    "proto",
    "netem",
    "gateway",
    "builtin",
    "cosim",
    "lab",
    "record",
    "clients",
    "testing",
    "view",
    "examples",
    "bench",
    "python/src",
)

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_NAMESPACE = re.compile(r"\bnamespace\s+((?:\w+::)*)(\w+)\s*\{")
_USE = re.compile(r"((?:\b\w+::|::)*)\bdetail::(\w+)")
_WHOLE = re.compile(
    r"\busing\s+namespace\s+(?:::)?(?:hyphos::)?detail\s*;|=\s*(?:\w*::)*detail\s*;"
)
_DECLARED = re.compile(
    r"\b(?:class|struct|enum(?:\s+class)?|concept|using)\s+(?:HYPHOS_EXPORT\s+)?(\w+)"
    r"|\b(\w+)\s*(?:\(|\{|=|;)"
)


def code_of(text: str) -> str:
    return _TEXT.sub('""', _COMMENT.sub("", text))


def _body(code: str, begin: int) -> str:
    """The text from `begin`, just after a brace, to the brace that closes it."""
    depth = 1
    for at in range(begin, len(code)):
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        if depth == 0:
            return code[begin:at]
    return code[begin:]


def _own_bodies(code: str) -> Iterable[str]:
    """The bodies of `namespace ROOM::detail`. A `namespace detail` counts if it is nested in a
    namespace of the room, and not directly in `hyphos`."""
    for found in _NAMESPACE.finditer(code):
        if found[2] != "detail":
            continue
        around = [part for part in found[1].split("::") if part]
        for outer in _NAMESPACE.finditer(code, 0, found.start()):
            if found.start() < outer.end() + len(_body(code, outer.end())):
                around += [*outer[1].split("::"), outer[2]]
        if any(part not in ("", "hyphos") for part in around):
            yield _body(code, found.end())


def own_names(codes: Iterable[str]) -> set[str]:
    """The names that a room declares in a `detail` namespace of its own."""
    return {
        name
        for code in codes
        for body in _own_bodies(code)
        for found in _DECLARED.finditer(body)
        for name in found.groups()
        if name
    }


def broken(code: str, own: set[str]) -> list[str]:
    """The uses of the core's `detail` in one file of an outer room."""
    found = []
    for use in _USE.finditer(code):
        qualifier = use[1].strip(":")
        if qualifier == "hyphos" or (qualifier == "" and use[2] not in own):
            found.append(use.group())
    found += [use.group() for use in _WHOLE.finditer(code)]
    for opened in _NAMESPACE.finditer(code):
        if opened[2] == "detail" and opened[1] == "hyphos::":
            found.append(opened.group())
    return found


def broken_in_room(texts: dict[str, str]) -> list[str]:
    codes = {name: code_of(text) for name, text in texts.items()}
    own = own_names(codes.values())
    return [f"{name}: {use}" for name, code in codes.items() for use in broken(code, own)]


class Rule(unittest.TestCase):
    def found(self, *texts: str) -> list[str]:
        return broken_in_room({f"{at}.cpp": text for at, text in enumerate(texts)})

    def test_names_of_the_core_are_found(self) -> None:
        for text in (
            "void f(detail::CallClient& client);",
            "std::shared_ptr<hyphos::detail::CallServer> core;",
            "::hyphos::detail::ClockCore clock(mode);",
            "using detail::CallKind;",
            "using namespace detail;",
            "using namespace hyphos::detail;",
            "namespace core = hyphos::detail;",
            "namespace hyphos::detail { struct More {}; }",
            "namespace hyphos { namespace detail { struct More {}; } } detail::More more;",
        ):
            self.assertNotEqual(self.found(text), [], text)

    def test_a_room_may_have_a_detail_namespace_of_its_own(self) -> None:
        header = "namespace hyphos::lab { namespace detail { int aligned(int at) { return at; } } }"
        nested = (
            "namespace hyphos::lab::detail { struct Option {}; inline constexpr int kMost = 1; }"
        )
        use = "int x = detail::aligned(detail::kMost); detail::Option o; lab::detail::Option p;"
        self.assertEqual(self.found(header, nested, use), [])
        self.assertNotEqual(self.found(header, use), [])

    def test_a_name_of_another_room_does_not_count(self) -> None:
        self.assertNotEqual(self.found("int x = detail::aligned(1);"), [])
        self.assertNotEqual(self.found("shm_detail::Shm shm; hyphos::detail::Block* block;"), [])

    def test_comments_and_texts_do_not_count(self) -> None:
        self.assertEqual(
            self.found('// detail::Block\n/* detail::Block */ log("detail::Block");'), []
        )
        self.assertEqual(self.found("shm_detail::Shm shm;"), [])


class Repository(unittest.TestCase):
    def test_outer_rooms_use_no_detail_of_the_core(self) -> None:
        for room in OUTER:
            texts = {
                path.relative_to(ROOT).as_posix(): path.read_text()
                for path in rooms.sources(ROOT / room)
            }
            self.assertTrue(texts, room)
            self.assertEqual(broken_in_room(texts), [], room)

    def test_every_outer_room_is_listed(self) -> None:
        listed = {room.partition("/")[0] for room in OUTER}
        self.assertEqual(listed - {"record"}, set(rooms.OUTER) - set(rooms.NOT_YET))


if __name__ == "__main__":
    unittest.main()
