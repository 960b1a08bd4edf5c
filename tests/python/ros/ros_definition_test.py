"""Definitions of ROS 1 and ROS 2: the parsed result, and the errors of invalid ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hyphos import Error
from hyphos.ros.definition import Count, Flavour, Interface, Name, parse
from hyphos.ros.library import Library
from ros_corpus import HERE, PACKAGES, RandomDefinitions, write_package

ROS1, ROS2 = Flavour.ROS1, Flavour.ROS2


def read(text: str, flavour: Flavour, kind: str = "msg") -> Interface:
    return parse(text, Name("demo_msgs", kind, "Thing"), flavour, f"Thing.{kind}")


def test_a_ros_1_message_is_parsed() -> None:
    [thing] = read(
        "Header header\ntime[2] when\nfloat64[36] covariance\nPose[] poses\nother_msgs/P p\n"
        "byte OK=-1\nchar C=255\nstring TEXT= a # b \nbool Yes = True\nfloat32 F=1e3\n",
        ROS1,
    ).parts
    assert [(one.type.message, one.type.count, one.type.size) for one in thing.fields] == [
        (Name("std_msgs", "msg", "Header"), Count.ONE, 0),
        (None, Count.FIXED, 2),
        (None, Count.FIXED, 36),
        (Name("demo_msgs", "msg", "Pose"), Count.ANY, 0),
        (Name("other_msgs", "msg", "P"), Count.ONE, 0),
    ]
    assert {one.name: one.value for one in thing.constants} == {
        "OK": -1, "C": 255, "TEXT": "a # b", "Yes": True, "F": 1000.0,
    }  # fmt: skip


def test_a_ros_2_message_is_parsed() -> None:
    [thing] = read(
        'string<=5 short "a\'b"\nwstring<=3[<=4] wide\nint32[<=3] few [1, -0x2]\n'
        "uint8[2] two [1,2]\nfloat64 third 0.5\nstring[] words [\"a, b\", 'c\\'d', e]\n"
        "byte B=255\nint64 MASK=0b101 # bits\nstring QUOTED=' x '\nuint64 BIG=18446744073709551615",
        ROS2,
    ).parts
    assert [(one.name, one.default) for one in thing.fields] == [
        ("short", "a'b"),
        ("wide", None),
        ("few", [1, -2]),
        ("two", [1, 2]),
        ("third", 0.5),
        ("words", ["a, b", "c'd", "e"]),
    ]
    wide = thing.fields[1].type
    assert (wide.primitive, wide.string_size, wide.count, wide.size) == (
        "wstring", 3, Count.AT_MOST, 4,
    )  # fmt: skip
    values = {one.name: one.value for one in thing.constants}
    assert values == {"B": 255, "MASK": 5, "QUOTED": " x ", "BIG": 2**64 - 1}


def test_comments_stay_with_their_subject() -> None:
    [thing] = read(
        "# The whole.\n#\n#  More.\n\n# Above one.\nint32 one # beside one\n"
        "          # and below it\n\n#### Above two.\nint32 two\n# Last.\n",
        ROS1,
    ).parts
    assert thing.comment == (" The whole.", "", "  More.", "", " Last.")
    assert [one.comment for one in thing.fields] == [
        (" Above one.", " beside one", " and below it"),
        (" Above two.",),
    ]


@pytest.mark.parametrize(("flavour", "joint"), [(ROS1, ""), (ROS2, "_")])
def test_services_and_actions_have_parts(flavour: Flavour, joint: str) -> None:
    service = read("int64 a\n---\nint64 sum\n", flavour, "srv")
    assert [one.name.base for one in service.parts] == [
        f"Thing{joint}Request",
        f"Thing{joint}Response",
    ]
    action = read("---\nint8 code\n---\n", flavour, "action")
    assert [len(one.fields) for one in action.parts] == [0, 1, 0]
    assert action.parts[1].fields[0].where == "Thing.action:2"


MISTAKES = [
    (ROS1, "float32", 1, "is a type or a name, but both are needed"),
    (ROS1, "\n\nfloat33[] x y", 3, "ROS 1 has no default values"),
    (ROS1, "int32 x\nint32 x", 2, "a field 'x' already exists"),
    (ROS1, "int32[3 x", 1, "'int32[3' is not a type"),
    (ROS1, "int32[2][3] x", 1, "'int32[2][3]' is not a type"),
    (ROS1, "int32[<=3] x", 1, "is not a type"),
    (ROS1, "string<=3 x", 1, "'string<=3' is not a ROS 1 type"),
    (ROS1, "int8 A=128", 1, "128 does not fit into int8: -128 to 127"),
    (ROS1, "int8 A=0x1", 1, "'0x1' is not a whole number"),
    (ROS1, "Header A=1", 1, "'Header' is not a type for constants"),
    (ROS1, "bool A=maybe", 1, "neither true nor false"),
    (ROS1, "float32 ä", 1, "'ä' is not a valid ROS 1 field name"),
    (ROS2, "time stamp", 1, "'time' is a type of ROS 1 only"),
    (ROS2, "float32 Range", 1, "'Range' is not a valid ROS 2 field name"),
    (ROS2, "float32 a__b", 1, "is not a valid ROS 2 field name"),
    (ROS2, "uint8 lower=1", 1, "is not a valid constant name"),
    (ROS2, "int32[<=0] x", 1, "has the length 0"),
    (ROS2, "int32[99999999999] x", 1, "longer than any wire format allows"),
    (ROS2, "int32[2] x [1]", 1, "'x' has 2 values, but its default 1"),
    (ROS2, "int32[<=1] x [1, 2]", 1, "'x' has at most 1 values"),
    (ROS2, "string<=2 x abc", 1, "3 characters, but 2 are allowed"),
    (ROS2, 'string x "a"b"', 1, 'a " inside the string needs a'),
    (ROS2, 'string[] x ["a]', 1, "a string is not closed"),
    (ROS2, "int32[] x 1", 1, "is not a list of values"),
    (ROS2, "Pose p 1", 1, "'p' is a message, which has no default value"),
    (ROS2, "pose_msgs/pose p", 1, "'pose_msgs/pose' is not a ROS 2 type"),
    (ROS2, "@optional int32 x", 1, "annotations are not supported"),
    (ROS2, "uint8 A=-1", 1, "-1 does not fit into uint8: 0 to 255"),
]  # fmt: skip


@pytest.mark.parametrize(("flavour", "text", "line", "message"), MISTAKES)
def test_a_mistake_is_named_with_its_line_and_a_remedy(
    flavour: Flavour, text: str, line: int, message: str
) -> None:
    with pytest.raises(Error) as caught:
        read(text, flavour)
    assert message in caught.value.message
    assert caught.value.where == f"Thing.msg:{line}"
    assert caught.value.advice


@pytest.mark.parametrize(
    ("kind", "text", "line", "message"),
    [
        ("srv", "int32 x\n", 2, "the file has 1 of 2 parts"),
        ("srv", "---\n---", 2, "one '---' too many"),
        ("action", "int32 x\n---\nint32 y", 3, "the file has 2 of 3 parts"),
        ("srv", "int32 x\n---\n\nint32 y_", 4, "'y_' is not a valid"),
    ],
)
def test_a_wrong_number_of_parts_is_named(kind: str, text: str, line: int, message: str) -> None:
    with pytest.raises(Error, match=message) as caught:
        read(text, ROS2, kind)
    assert caught.value.where == f"Thing.{kind}:{line}"


def test_a_header_without_its_package_is_a_ros_1_header(tmp_path: Path) -> None:
    folder = write_package(tmp_path / "demo_msgs", {"A": "Header header"})
    for flavour, message in (
        (ROS1, "package 'std_msgs' is not given"),
        (ROS2, "'std_msgs/Header'"),
    ):
        library = Library.load([folder], flavour)
        with pytest.raises(Error, match=message):
            library.needed(library.asked())


def test_a_name_that_ros_does_not_allow_is_refused() -> None:
    with pytest.raises(Error, match="not a valid ROS 2 type name"):
        parse("", Name("demo_msgs", "msg", "thing"), ROS2, "thing.msg")
    assert parse("", Name("demo_msgs", "msg", "thing"), ROS1, "thing.msg").parts[0].fields == ()


@pytest.mark.parametrize("flavour", list(Flavour))
def test_random_definitions_are_read_correctly(flavour: Flavour) -> None:
    for seed in range(200):
        lines = list(RandomDefinitions(seed, flavour).fields(["M0", "M1"]))
        [thing] = read("\n".join(text for text, _ in lines), flavour).parts
        assert [(one.type.text, one.name) for one in thing.fields] == [meant for _, meant in lines]
        for one, (_, (kind, _)) in zip(thing.fields, lines, strict=True):
            bare, bracket, size = kind.partition("[")
            found = one.type
            assert (found.count is Count.ONE) == (bracket == "")
            assert str(found.size or "") == size.strip("<=]")
            base, _, longest = bare.partition("<=")
            assert str(found.string_size or "") == longest
            assert base.rpartition("/")[2] in (
                found.primitive,
                found.message and found.message.base,
            )


@pytest.mark.parametrize("flavour", list(Flavour))
def test_a_damaged_definition_is_read_or_refused(flavour: Flavour) -> None:
    chance = random.Random(7)
    for seed in range(60):
        texts = RandomDefinitions(seed, flavour).package(3)
        for text in texts.values():
            damaged = list(text)
            for _ in range(chance.randrange(1, 6)):
                place = chance.randrange(len(damaged) + 1)
                damaged[place : place + chance.randrange(3)] = chance.choice(
                    "[]<=#/\"'\\ \n\t@-09aZ_é\0\x85"
                )
            try:
                read("".join(damaged), flavour, chance.choice(["msg", "srv", "action"]))
            except Error as error:
                assert error.where.startswith("Thing.")
                assert error.advice


@HERE
def test_all_definitions_of_debian_are_read() -> None:
    read_files = 0
    for package in PACKAGES:
        for kind in ("msg", "srv", "action"):
            for file in (package / kind).glob(f"*.{kind}"):
                name = Name(package.name, kind, file.stem)
                interface = parse(file.read_text(), name, ROS1, str(file))
                words = sum(1 for part in interface.parts for _ in (*part.fields, *part.constants))
                lines = (line.partition("#")[0].strip() for line in file.read_text().split("\n"))
                assert words == sum(1 for line in lines if line and not line.startswith("---"))
                read_files += 1
    assert read_files > 100
