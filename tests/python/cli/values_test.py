"""One reader parses values by the declared type. Every command reads the output of any command."""

from __future__ import annotations

import json
import math
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hyphos
import pytest
from helpers import Cli, Inbox, Start
from hyphos import _hyphos, msgs
from hyphos.tools import scalars
from hyphos.tools.value_text import print_json, print_yaml, shorten, to_plain
from hyphos.tools.values import read_message
from value_types import TEXTS, make_class, some_message, some_value

ALL = make_class()


def printed(message: Any) -> Iterator[str]:
    """A message in each format in which a command prints it."""
    yield print_yaml(to_plain(message, as_json=False)) + "\n---\n"
    yield print_json(to_plain(message, as_json=True))


def read(text: str, cls: Any = ALL) -> Any:
    return read_message(cls, text).message


@pytest.mark.parametrize("seed", range(150))
def test_printed_messages_are_read_back_unchanged(seed: int) -> None:
    message = some_message(random.Random(seed), ALL)
    for text in printed(message):
        back = read(text)
        same = back.SerializeToString(deterministic=True)
        assert same == message.SerializeToString(deterministic=True), text


@pytest.mark.parametrize("name", ["LaserScan", "Odometry", "Imu", "BatteryState", "TfMessage"])
def test_standard_messages_are_printed_and_read(name: str) -> None:
    cls = getattr(msgs, name)
    rng = random.Random(name)
    for _ in range(20):
        message = cls()
        for field in cls.DESCRIPTOR.fields:
            kind = {field.CPPTYPE_FLOAT: "float", field.CPPTYPE_DOUBLE: "double"}.get(
                field.cpp_type
            )
            if kind and field.name in ("ranges", "cell_voltage", "orientation_covariance"):
                getattr(message, field.name).extend(some_value(rng, kind) for _ in range(5))
            elif kind and field.name in ("range_max", "angle_min", "voltage", "percentage"):
                setattr(message, field.name, some_value(rng, kind))
        for text in printed(message):
            assert str(read(text, cls)) == str(message)


@pytest.mark.parametrize("text", TEXTS)
def test_plain_text_is_text_where_text_is_declared(text: str) -> None:
    message = read(f"{{one_string: {json.dumps(text)}, many_string: [{json.dumps(text)}]}}")
    assert (message.one_string, list(message.many_string)) == (text, [text])


@pytest.mark.parametrize(
    "text",
    ["yes", "no", "on", "off", "true", "null", "~", "007", "1e3", "2024-01-01", "0x1f", ".nan",
     "1:30",     "auto", "now", "-1", "1_000", "2024-01-01T00:00:00Z", "=", "NaN"],
)  # fmt: skip
def test_words_of_yaml_need_no_quotes_as_text(text: str) -> None:
    message = read(f"one_string: {text}\nmap_string_string: {{{text}: {text}}}")
    assert message.one_string == text
    assert dict(message.map_string_string) == {text: text}


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("{one_double: .inf}", "one_double", math.inf),
        ("{one_double: -.inf}", "one_double", -math.inf),
        ("{one_double: -Infinity}", "one_double", -math.inf),
        ('{one_double: "Infinity"}', "one_double", math.inf),
        ("{one_double: 1e3}", "one_double", 1000.0),
        ("{one_double: 3}", "one_double", 3.0),
        ("{one_float: 3.4028235e38}", "one_float", 3.4028234663852886e38),
        ("{one_int64: 9007199254740993}", "one_int64", 2**53 + 1),
        ('{one_int64: "-9223372036854775808"}', "one_int64", -(2**63)),
        ("{one_uint64: 18446744073709551615}", "one_uint64", 2**64 - 1),
        ("{one_int32: 007}", "one_int32", 7),
        ("{one_int32: -0x1F}", "one_int32", -31),
        ("{one_bool: on}", "one_bool", True),
        ("{maybe_bool: no}", "maybe_bool", False),
        ("{one_enum: ON}", "one_enum", 1),
        ("{one_enum: NO}", "one_enum", 2),
        ("{one_enum: -7}", "one_enum", -7),
        ("{one_enum: 99}", "one_enum", 99),
        ("{one_bytes: aGk=}", "one_bytes", b"hi"),
        ("{one_bytes: _-8}", "one_bytes", b"\xff\xef"),
        ("{one_bytes: [0, -1, 255]}", "one_bytes", b"\x00\xff\xff"),
        ("{oneString: camel}", "one_string", "camel"),
        ("{one_string: }", "one_string", ""),
        ("{one_double: null}", "one_double", 0.0),
        ("<<: {one_int32: 5}", "one_int32", 5),
        ("", "one_int32", 0),
        ('{"one_string": "\\ud83d\\ude00"}', "one_string", "😀"),
        ('one_string: "\\ud83d\\ude00"', "one_string", "😀"),
    ],
)  # fmt: skip
def test_values_are_read_by_the_declared_type(text: str, field: str, value: Any) -> None:
    assert getattr(read(text), field) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{one_int32: 2147483648}", "-2147483648 to 2147483647"),
        ("{one_uint32: -1}", "0 to 4294967295"),
        ("{one_int64: 9223372036854775808}", "to 9223372036854775807"),
        ("{one_uint64: 18446744073709551616}", "0 to 18446744073709551615"),
        ("{many_int32: [1, 99999999999]}", r"many_int32\[1\]: .*-2147483648"),
        ("{one_float: 1e39}", r"-3.40282e\+38 to 3.40282e\+38"),
        ("{one_double: 1e400}", r"1.79769e\+308"),
        ("{one_int32: 1.5}", "expected a whole number, found '1.5'"),
        ("{one_int32: 1e3}", "expected a whole number"),
        ("{one_int32: yes}", "expected a whole number, found 'yes'"),
        ("{one_int32: [1]}", "expected a whole number, found a list"),
        ("{one_double: 1_000}", "expected a number"),
        ("{one_double: x}", "expected a number, found 'x'"),
        ("{one_bool: 1}", "expected true or false, found '1'"),
        ('{one_bool: "true"}', "without quotes"),
        ("{one_enum: FSAT}", "did you mean 'FAST'"),
        ("{one_enum: 99999999999}", "2147483647"),
        ("{one_bytes: '!!'}", "base64"),
        ("{one_bytes: [256]}", "-128 to 255"),
        ("{many_string: a}", "expected a list"),
        ("{map_string_string: [a]}", "expected a map"),
        ("{map_int32_string: {x: a}}", "expected a whole number"),
        ("{map_bool_string: {true: a, yes: b}}", "given twice"),
        ("{one_all: 5}", "expected a map of fields of values.All"),
        ("{one_all: auto}", "fills headers and stamps"),
        ("{one_strnig: a}", "did you mean 'one_string'"),
        ("{one_string: a, one_string: b}", "given twice"),
        ("{one_string: a, oneString: b}", "give one"),
        ("{pick_string: a, pick_int64: 1}", "give one"),
        ("{one_string: !x a}", "not supported"),
        ('{one_string: "\\ud83d"}', "surrogate"),
        ("{google_timestamp: tomorrow}", "google_timestamp"),
        ("[1]", "must be a map of fields"),
        ("x", "must be a map of fields"),
        ("{one_string: a}\n---\n{one_string: b}", "2 messages"),
        ("{one_string", "neither YAML nor JSON"),
        ("&a {one_all: *a}", "deep"),
        ("{a: 1}\x00", "neither YAML nor JSON"),
    ],
)
def test_invalid_values_are_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(hyphos.Error, match=f"(?s){reason}") as caught:
        read(text)
    assert caught.value.code == "invalid_config"


def test_deep_nesting_and_aliases_are_bounded() -> None:
    for deep in ("{one_all: " * 5000 + "}" * 5000, '{"one_all": ' * 5000 + "{}" + "}" * 5000):
        with pytest.raises(hyphos.Error, match=r"deep|YAML"):
            read(deep)
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    with pytest.raises(hyphos.Error, match="no field"):
        read("\n".join(lines))


@pytest.mark.parametrize("cls", [msgs.PoseStamped, msgs.LaserScan])
def test_auto_fills_a_header_with_the_time(cls: Any) -> None:
    for text in ("{header: auto}", "{header: now}", "{header: {stamp_ns: now, frame_id: ''}}"):
        found = read_message(cls, text, lambda: 5)
        assert (found.message.header.stamp_ns, found.stamped) == (5, True)
    assert not read_message(cls, "{header: {frame_id: auto}}", lambda: 5).stamped
    assert read("{google_timestamp: auto}").google_timestamp.seconds > 1_700_000_000


def test_shortened_output_is_not_read() -> None:
    message = ALL(many_double=range(50), one_string="a" * 500, many_string=["… 3 more"])
    for fields in ({"many_double"}, {"one_string"}):
        plain = {k: v for k, v in to_plain(message, as_json=False).items() if k in fields}
        with pytest.raises(hyphos.Error, match="the printed text was shortened") as caught:
            read(print_yaml(shorten(plain)))
        assert "--full" in caught.value.advice
    assert list(read(print_yaml(shorten({"many_string": ["… 3 more"]}))).many_string) == [
        "… 3 more"
    ]


def test_a_dump_of_bytes_is_read_as_the_same_bytes() -> None:
    from hyphos.tools.echo import hexdump  # noqa: PLC0415

    rng = random.Random(3)
    for size in (1, 2, 15, 16, 17, 32, 100):
        data = rng.randbytes(size)
        dump = hexdump(data)
        commented = "".join(f"# {line}\n" for line in [f"{size} bytes", *dump.splitlines()])
        for text in (dump, commented + "---\n", data.hex(), json.dumps({"bytes": data.hex()})):
            assert scalars.from_hex(text) == data
    with pytest.raises(ValueError, match="--full"):
        scalars.from_hex(hexdump(bytes(100), 32))
    with pytest.raises(ValueError, match="does not follow"):
        scalars.from_hex("\n".join(hexdump(bytes(64)).splitlines()[::2]))


NUMBERS = """0 -0 +1 +-1 -+1 0X1F -0x8000000000000000 0x8000000000000000 1. .5 1.e3 1e400 1e-400
9223372036854775807 -9223372036854775808 9223372036854775808 -.Inf +.inf INF nan -Infinity 1.5
TRUE Off YES y 0b1 0o7"""
WORDS = [
    *(text for text in TEXTS if text.isprintable() and text == text.strip() and text),
    *NUMBERS.split(),
]


@pytest.mark.parametrize("word", WORDS)
def test_plans_and_messages_read_a_word_alike(word: str) -> None:
    """parse_param() is the reader of plans and parameters."""

    def outcome(read: Any) -> Any:
        try:
            value = read()
        except (hyphos.Error, ValueError):
            return "refused"
        return "refused" if value != value else value  # noqa: PLR0124  # no parameter is NaN

    pairs = (
        ("integer", lambda: scalars.integer(word, -(2**63), 2**63 - 1)),
        ("real", lambda: scalars.real(word, single=False)),
        ("boolean", lambda: scalars.boolean(word)),
    )
    quoted = word[0] in "\"'"  # a quoted number is text in a plan, but JSON quotes 64-bit numbers
    for kind, read_word in pairs:
        by_plan = outcome(lambda kind=kind: _hyphos.parse_param(kind, word))
        by_message = outcome(read_word)
        if not quoted and word.split("#", maxsplit=1)[0].strip() == word:
            assert by_plan == by_message, (kind, word)


def test_numbers_out_of_range_name_the_range() -> None:
    with pytest.raises(hyphos.Error, match="to 9223372036854775807, found '9223372036854775808'"):
        _hyphos.parse_param("integer", "9223372036854775808")
    with pytest.raises(hyphos.Error, match=r"to 1\.8e308, found '1e400'"):
        _hyphos.parse_param("real", "1e400")


@pytest.mark.parametrize(
    "word", ["yes", "on", "1e3", "2024-01-01", "null", "~", "007", ".nan", "0x1f", "-1", "true"]
)
def test_a_plan_and_an_option_read_plain_words_as_text(tmp_path: Path, word: str) -> None:
    plan = tmp_path / "robot.yaml"
    plan.write_text(f"hyphos: 1\nnodes:\n  n: {{params: {{by_plan: {word}, all: [{word}, a]}}}}\n")
    more = [f"nodes.n.params.by_option={word}"]
    with hyphos.Node.open("n", plan=str(plan), overrides=more, offline=True) as node:
        params = node.params()
        assert params.declare("by_plan", "default").value == word
        assert params.declare("by_option", "default").value == word
        assert params.declare("all", ["default"]).value == [word, "a"]


OWNER = """
import sys
import hyphos

node = hyphos.Node.open("owner", sys.argv)
params = node.params()
params.declare("real", 0.5)
params.declare("whole", 1)
params.declare("text", "a")
params.declare("flag", False)
params.declare("data", b"")
params.declare("reals", [0.5])
params.declare("wholes", [1])
params.declare("texts", ["a"])
params.declare("flags", [True])
print("ready", flush=True)
node.spin()
"""
_NOT_IN_PARAMS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
PARAMS: dict[str, list[Any]] = {
    "real": [-0.5, -0.0, 1e22, 5e-324, -1e300, float("inf"), float("-inf"), 0.1, -3.0],
    "whole": [-1, -(2**63), 2**63 - 1, 2**53 + 1, 0],
    "text": [text for text in TEXTS if not _NOT_IN_PARAMS.search(text)],
    "flag": [True, False],
    "data": [b"", b"\0\xff", b"12"],
    "reals": [[], [-1.0, float("-inf"), 1e22], [2.0]],
    "wholes": [[], [-1, -(2**63)]],
    "texts": [[], ["yes", "~", "null", "a, b", "", "'", '"', "-1", "007"], ["a\nb", "#"]],
    "flags": [[], [True, False]],
}  # fmt: skip


def test_param_set_reads_the_output_of_param_get(
    python: Start, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    assert python(OWNER, "--hyphos-domain", domain).line() == "ready"
    with hyphos.Node.open("tool", domain=domain) as node:
        remote = node.remote_params("owner")
        remote.wait(60_000)
        for name, values in PARAMS.items():
            for value in values[:: 6 if name == "text" else 1]:
                remote.set({name: value})
                before = repr(remote[name])
                code, out, err = hyphos_cli("param", "get", "owner", name, "-d", domain)
                assert code == 0, err
                other = values[0] if repr(values[0]) != before else values[-1]
                remote.set({name: other})
                word = out.removesuffix("\n")
                words = (
                    ("--", name, word)
                    if word.startswith(("-d", "--")) or word == "-"
                    else (name, word)
                )
                code, _, err = hyphos_cli("param", "set", "owner", "-d", domain, *words)
                assert code == 0, (name, value, err)
                assert repr(remote[name]) == before
        file = tmp_path / "kept.yaml"
        assert hyphos_cli("param", "dump", "-o", str(file), "-d", domain)[0] == 0
        kept = {name: repr(remote[name]) for name in PARAMS}
        remote.set({name: values[0] for name, values in PARAMS.items()})
        assert hyphos_cli("param", "load", str(file), "-d", domain)[0] == 0
        assert {name: repr(remote[name]) for name in PARAMS} == kept


@pytest.mark.parametrize("value", TEXTS)
def test_every_text_of_a_parameter_is_written_and_read(value: str) -> None:
    from hyphos.tools.params import _readable  # noqa: PLC0415

    with hyphos.Node.open("n", offline=True) as node:
        params = node.params()
        try:
            params.declare("text", value)
        except hyphos.Error as error:
            assert "control characters" in str(error)
            return
        info = params.values().find("text")
        assert info is not None
        assert _hyphos.parse_param("text", _readable(info)) == value
        assert "\n" not in _readable(info)


@pytest.mark.parametrize("word", ["-0.5", "-1", "-.5", "-.inf", "-inf", "-Infinity", "-1e3"])
def test_negative_numbers_are_not_options(
    python: Start, hyphos_cli: Cli, domain: str, word: str
) -> None:
    assert python(OWNER, "--hyphos-domain", domain).line() == "ready"
    for words in ((word, "-d", domain), ("-d", domain, word)):
        name = words.index(word)
        code, out, err = hyphos_cli("param", "set", "owner", *words[:name], "real", *words[name:])
        assert code == 0, err
        assert "owner.real" in out
    code, _, err = hyphos_cli("param", "set", "owner", "real", "1", "--no-such", "-d", domain)
    assert code != 0
    assert "--no-such" in err


def test_pub_accepts_the_output_of_echo(
    node: hyphos.Node, hyphos_cli: Cli, domain: str, inbox: Inbox
) -> None:
    """Three numbers that YAML has and JSON lacks: .nan, .inf and -.inf."""
    source = node.publisher("scan", msgs.LaserScan, policy=hyphos.Policy(latched=True))
    node.subscribe("again", msgs.LaserScan, inbox)
    sent = msgs.LaserScan(ranges=[math.nan, math.inf, -math.inf, 1.5], angle_min=-0.0)
    sent.header.stamp_ns = 2**53 + 1
    source.publish(sent)
    late = ("--wait", "60", "-d", domain)
    for number, more in enumerate(((), ("--json",), ("--full", "--meta")), 1):
        code, out, err = hyphos_cli("channel", "echo", "scan", "-n", "1", "-d", domain, *more)
        assert code == 0, err
        code, _, err = hyphos_cli("channel", "pub", "again", "LaserScan", out, *late)
        assert code == 0, err
        assert str(inbox.wait(number)[-1]) == str(sent)
    code, _, err = hyphos_cli(
        "channel", "pub", "again", "LaserScan", "{header: auto}", "-r", "50", "-n", "3", *late
    )
    assert code == 0, err
    stamps = [scan.header.stamp_ns for scan in inbox.wait(6)[3:]]
    assert stamps == sorted(set(stamps))
    assert abs(stamps[-1] - time.time_ns()) < 600e9


def test_a_message_is_not_published_without_its_buffers(
    node: hyphos.Node, hyphos_cli: Cli, domain: str, tmp_path: Path
) -> None:
    source = node.publisher(
        "camera", hyphos.Attached[msgs.Image], policy=hyphos.Policy(latched=True)
    )
    source.publish(msgs.Image(width=2, height=1, encoding="mono8"), b"ab")
    file = tmp_path / "pixels"
    for more in ((), ("--json",)):
        code, out, err = hyphos_cli("channel", "echo", "camera", "-n", "1", "-d", domain, *more)
        assert code == 0, err
        words = ("channel", "pub", "copy", "Image", out, "--wait", "0", "-d", domain)
        code, _, err = hyphos_cli(*words)
        assert code == 1
        assert "attached buffers of 2 bytes" in err
        file.write_bytes(b"ab")
        assert hyphos_cli(*words, "-b", str(file))[0] == 0


def test_services_and_actions_accept_their_own_output(
    node: hyphos.Node, hyphos_cli: Cli, domain: str
) -> None:
    node.service("twice", msgs.LaserScan, msgs.LaserScan, lambda scan: scan)
    asked = "{header: {stamp_ns: 9007199254740993}, ranges: [.nan, -.inf, 1], range_min: -0.0}"
    code, first, err = hyphos_cli("service", "call", "twice", asked, "-d", domain)
    assert code == 0, err
    code, second, err = hyphos_cli("service", "call", "twice", first, "-d", domain)
    assert (code, second) == (0, first), err
    code, third, err = hyphos_cli("service", "call", "twice", first, "--json", "-d", domain)
    code, fourth, err = hyphos_cli("service", "call", "twice", third, "-d", domain)
    assert (code, fourth) == (0, first), err
    code, out, err = hyphos_cli("service", "call", "twice", "{header: auto}", "-d", domain)
    assert code == 0, err
    assert read(out, msgs.LaserScan).header.stamp_ns > 1_700_000_000_000_000_000
    code, _, err = hyphos_cli("service", "call", "twice", "-1", "-d", domain)
    assert code == 1
    assert "must be a map of fields" in err
