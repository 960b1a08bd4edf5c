"""Nodes, publishers and subscriptions inside one process."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
from helpers import Inbox, wait_until
from hyphos import Attached, Struct, TypeId, _hyphos
from hyphos.msgs import Image, LaserScan, String
from hyphos.types import Raw, codec_for


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def counters(domain: str, channel: str, *, publisher: bool) -> dict[str, int]:
    for process in _hyphos.inspect(domain):
        for end in process.endpoints:
            if end.channel == channel and end.is_publisher == publisher:
                return dict(end.counters)
    return {}


def test_protobuf_arrives_unchanged(node: hyphos.Node, inbox: Inbox) -> None:
    node.subscribe("scan", LaserScan, inbox)
    sent = LaserScan(ranges=[1.0, 2.5], range_max=30)
    published = node.publisher("scan", LaserScan).publish(sent)
    assert published
    assert (published.accepted, published.dropped, published.failure) == (1, 0, None)
    assert inbox.wait(1) == [sent]


def test_messages_arrive_in_order(node: hyphos.Node, inbox: Inbox) -> None:
    policy = hyphos.Policy(reliability="reliable", depth=4)
    node.subscribe("n", String, lambda text: inbox(text.data), policy=policy)
    publisher = node.publisher("n", String, policy=policy)
    words = [str(number) for number in range(200)]
    assert all(publisher.publish(String(data=word)) for word in words)
    assert inbox.wait(200) == words


@pytest.mark.parametrize(
    "policy",
    [
        hyphos.Policy(reliability="reliable", overflow="block", depth=2),
        hyphos.Policy(overflow="drop_oldest", depth=2),
        hyphos.Policy(overflow="drop_newest", depth=2),
    ],
    ids=lambda policy: policy.overflow,
)
def test_has_room_is_false_where_publish_would_wait_or_drop(
    node: hyphos.Node, inbox: Inbox, policy: hyphos.Policy
) -> None:
    gate = threading.Event()

    def hear(text: String) -> None:
        gate.wait()
        inbox(text.data)

    node.subscribe("n", String, hear, policy=policy)
    publisher = node.publisher("n", String, policy=policy)
    sent = 0
    while publisher.has_room() and sent < 100:
        publisher.publish(String(data=str(sent)))
        sent += 1
    assert 2 <= sent <= 3  # one may be in the callback
    gate.set()
    assert inbox.wait(sent) == [str(number) for number in range(sent)]
    assert publisher.has_room(1000)


def test_a_callback_with_two_arguments_gets_the_metadata(node: hyphos.Node, inbox: Inbox) -> None:
    node.subscribe("n", String, lambda text, info: inbox((text.data, info)))
    publisher = node.publisher("n", String)
    for word in ("a", "b"):
        publisher.publish(String(data=word))
    got = inbox.wait(2)
    assert [(word, info.sequence) for word, info in got] == [("a", 1), ("b", 2)]
    info = got[0][1]
    assert info.sender == got[1][1].sender
    assert not info.replayed
    assert 0 < info.stamps["publish"] <= info.stamps["scheduled"] <= info.stamps["callback"]


def test_a_latched_value_is_given_to_late_subscribers(node: hyphos.Node, inbox: Inbox) -> None:
    latched = hyphos.Policy(latched=True, depth=1)
    node.publisher("map", String, policy=latched).publish(String(data="here"))
    node.subscribe("map", String, lambda t, info: inbox((t.data, info.replayed)), policy=latched)
    assert inbox.wait(1) == [("here", True)]


@pytest.mark.parametrize("mode", ["serial", "concurrent", "inline"])
def test_every_mode_delivers(node: hyphos.Node, inbox: Inbox, mode: str) -> None:
    node.subscribe("n", String, lambda text: inbox(text.data), mode)
    publisher = node.publisher("n", String)
    for number in range(5):
        publisher.publish(String(data=str(number)))
    assert sorted(map(str, inbox.wait(5))) == list("01234")


def test_received_bytes_are_a_lasting_read_only_view(node: hyphos.Node, inbox: Inbox) -> None:
    node.subscribe("raw", bytes, inbox)
    node.publisher("raw", bytes).publish(b"hello")
    [view] = inbox.wait(1)
    assert not view.flags.writeable
    assert not view.flags.owndata
    node.close()
    assert bytes(view) == b"hello"


def test_a_loan_is_read_in_place(node: hyphos.Node, inbox: Inbox) -> None:
    node.subscribe("raw", bytes, inbox)
    publisher = node.publisher("raw", bytes)
    array = publisher.loan(4096)
    array[:] = 7
    publisher.publish(array)
    [view] = inbox.wait(1)
    assert address(view) == address(array)
    assert np.array_equal(view, array)


def test_a_part_of_a_loan_is_sent_without_a_copy(node: hyphos.Node, inbox: Inbox) -> None:
    node.subscribe("raw", bytes, inbox)
    publisher = node.publisher("raw", bytes)
    values = publisher.loan(8 * 10).view(np.float64).reshape(2, 5)
    values[:] = np.arange(10).reshape(2, 5)
    publisher.publish(values[1])
    [view] = inbox.wait(1)
    assert address(view) == address(values[1])
    assert view.view(np.float64).tolist() == [5, 6, 7, 8, 9]


def test_a_received_buffer_is_forwarded_without_a_copy(node: hyphos.Node, inbox: Inbox) -> None:
    onward = node.publisher("second", bytes)
    first = Inbox()

    def forward(view: Any) -> None:
        first(address(view))
        onward.publish(view)

    node.subscribe("second", bytes, lambda view: inbox(address(view)))
    node.subscribe("first", bytes, forward)
    node.publisher("first", bytes).publish(bytes(100_000))
    assert inbox.wait(1) == first.wait(1)


def test_an_image_keeps_its_pixels_in_the_buffer(node: hyphos.Node, inbox: Inbox) -> None:
    node.subscribe("camera", Attached[Image], inbox)
    pixels = np.random.default_rng(1).integers(0, 255, (48, 64, 3), np.uint8)
    publisher = node.publisher("camera", Attached[Image])
    publisher.publish(hyphos.numpy_to_image(pixels, frame_id="optical"))
    [image] = inbox.wait(1)
    assert isinstance(image, Attached)
    assert image.head.header.frame_id == "optical"
    assert np.array_equal(hyphos.image_to_numpy(image), pixels)
    assert not image.buffers[0].flags.owndata


def test_head_and_buffers_can_be_separate_arguments(node: hyphos.Node, inbox: Inbox) -> None:
    node.subscribe("camera", Attached[Image], inbox)
    node.publisher("camera", Attached[Image]).publish(Image(width=2), b"ab", b"", bytearray(b"cd"))
    [image] = inbox.wait(1)
    assert isinstance(image, Attached)
    assert [bytes(buffer) for buffer in image.buffers] == [b"ab", b"", b"cd"]


def test_an_array_with_gaps_is_sent_densely(node: hyphos.Node, inbox: Inbox) -> None:
    node.subscribe("raw", bytes, inbox)
    array = np.arange(100_000, dtype=np.uint16).reshape(100, 1000)[::2, ::3]
    node.publisher("raw", bytes).publish(array)
    [view] = inbox.wait(1)
    assert bytes(view) == array.tobytes()


def test_structs_have_the_layout_of_c(node: hyphos.Node, inbox: Inbox) -> None:
    class Pose(ctypes.Structure):
        hyphos_type = "test.Pose"
        _fields_ = (("id", ctypes.c_uint8), ("x", ctypes.c_double), ("n", ctypes.c_uint16))

    pose = Struct("test.Pose", [("id", "u1"), ("x", "f8"), ("n", "u2")])
    assert pose.dtype.itemsize == ctypes.sizeof(Pose) == 24
    assert codec_for(Pose).id.hash == pose.id.hash
    node.subscribe("pose", pose, inbox)
    node.publisher("pose", Pose).publish(Pose(3, 1.5, 9))
    [got] = inbox.wait(1)
    assert (got.id, got.x, got["n"]) == (3, 1.5, 9)
    with pytest.raises(ValueError, match="read-only"):
        got["x"] = 2


def test_a_struct_can_be_received_as_ctypes(node: hyphos.Node, inbox: Inbox) -> None:
    class Pair(ctypes.Structure):
        hyphos_type = "test.Pair"
        _fields_ = (("a", ctypes.c_int32), ("b", ctypes.c_int32))

    pair = Struct("test.Pair", [("a", "i4"), ("b", "i4")])
    node.subscribe("pair", Pair, lambda value: inbox((value.a, value.b)))
    node.publisher("pair", pair).publish(pair(a=-1, b=2))
    assert inbox.wait(1) == [(-1, 2)]


def test_a_type_may_have_its_own_serialize_and_parse(node: hyphos.Node, inbox: Inbox) -> None:
    class Word:
        hyphos_type = "test.Word"

        def __init__(self, text: str) -> None:
            self.text = text

        def serialize(self) -> bytes:
            return self.text.encode()

        @classmethod
        def parse(cls, data: memoryview) -> Word:
            return cls(bytes(data).decode())

    node.subscribe("word", Word, lambda word: inbox(word.text))
    node.publisher("word", Word).publish(Word("grün"))
    assert inbox.wait(1) == ["grün"]


def test_type_ids_equal_those_of_the_wire_format() -> None:
    # FNV-1a 64 of "name|encoding|size": computed by hand for one type, and from scratch here.
    value = 0xCBF29CE484222325
    for byte in b"test.Pose|struct|24":
        value = (value ^ byte) * 0x100000001B3 % 2**64
    assert TypeId("test.Pose", "struct", 24).hash == value
    assert codec_for(LaserScan).id.name == "hyphos.msgs.LaserScan"
    assert codec_for(Attached[Image]).id.hash != codec_for(Image).id.hash


def test_two_types_on_one_channel_are_refused(node: hyphos.Node) -> None:
    held = node.publisher("scan", LaserScan)
    with pytest.raises(hyphos.Error, match=r"hyphos\.msgs\.String") as caught:
        node.publisher("scan", String)
    assert caught.value.code == "type_mismatch"
    assert caught.value.advice
    held.close()
    assert node.publisher("scan", String).channel == "scan"


def test_bad_names_and_options_are_refused(node: hyphos.Node) -> None:
    with pytest.raises(hyphos.Error) as caught:
        node.publisher("no spaces", String)
    assert caught.value.code == "invalid_config"
    with pytest.raises(ValueError, match="'serial', 'concurrent', 'inline'"):
        node.subscribe("n", String, print, "parallel")
    with pytest.raises(ValueError, match="reliability 'maybe'"):
        hyphos.Policy(reliability="maybe")
    with pytest.raises(TypeError, match="cannot be published"):
        node.subscribe("n", int, print)


def test_a_value_of_another_type_is_refused(node: hyphos.Node) -> None:
    image: Any = node.publisher("camera", Attached[Image])
    with pytest.raises(TypeError, match=r"hyphos\.msgs\.Image"):
        image.publish(String())
    scan: Any = node.publisher("scan", LaserScan)
    with pytest.raises(TypeError, match="LaserScan"):
        scan.publish(String())
    with pytest.raises(TypeError, match="one value only"):
        scan.publish(LaserScan(), b"buffer")
    with pytest.raises(TypeError):
        node.publisher("raw", bytes).publish(3)
    pose = Struct("test.P", [("x", "f8")])
    with pytest.raises(TypeError, match="16 bytes"):
        node.publisher("pose", pose).publish(np.zeros(2))


def test_more_than_eight_buffers_are_refused(node: hyphos.Node) -> None:
    with pytest.raises(ValueError, match="at most 8"):
        node.publisher("camera", Attached[Image]).publish(Image(), *[b"x"] * 9)


def test_an_exception_in_a_callback_is_logged_and_counted(
    node: hyphos.Node, domain: str, inbox: Inbox, capfd: pytest.CaptureFixture[str]
) -> None:
    def divide(text: String) -> None:
        inbox(text.data)
        _ = 1 / int(text.data)

    node.subscribe("n", String, divide)
    publisher = node.publisher("n", String)
    for word in ("0", "1", "0"):
        publisher.publish(String(data=word))
    inbox.wait(3)
    wait_until(
        lambda: counters(domain, "n", publisher=False).get("callback_error") == 2, "the count"
    )
    log = capfd.readouterr().err
    assert "ZeroDivisionError" in log
    assert "in divide" in log  # the traceback


def test_corrupt_bytes_do_not_reach_the_callback(
    node: hyphos.Node, domain: str, inbox: Inbox, capfd: pytest.CaptureFixture[str]
) -> None:
    node.subscribe("scan", LaserScan, inbox)
    publisher = node.publisher("scan", Raw(TypeId("hyphos.msgs.LaserScan", "protobuf")))
    publisher.publish((b"\xff\xff\xff", ()))
    publisher.publish((LaserScan(ranges=[1]).SerializeToString(), ()))
    assert inbox.wait(1) == [LaserScan(ranges=[1])]
    wait_until(
        lambda: counters(domain, "scan", publisher=False).get("callback_error") == 1, "the count"
    )
    assert "invalid hyphos.msgs.LaserScan" in capfd.readouterr().err


def test_timers_repeat_until_closed(node: hyphos.Node, inbox: Inbox) -> None:
    timer = node.every(lambda: inbox("tick"), rate_hz=200)
    inbox.wait(3)
    timer.close()
    after = len(inbox.items)
    other = Inbox()
    node.every(lambda: other("tock"), period_ms=5)
    other.wait(5)
    assert len(inbox.items) == after


def test_every_requires_exactly_one_period(node: hyphos.Node) -> None:
    for bad in ({}, {"period_ms": 1.0, "rate_hz": 1.0}):
        with pytest.raises(TypeError, match="either"):
            node.every(print, **bad)
    with pytest.raises(ValueError, match="positive"):
        node.every(print, period_ms=0)


def test_closing_a_subscription_ends_its_callbacks(node: hyphos.Node, inbox: Inbox) -> None:
    subscription = node.subscribe("n", String, inbox)
    publisher = node.publisher("n", String)
    publisher.publish(String())
    inbox.wait(1)
    subscription.close()
    assert publisher.publish(String()).accepted == 0
    subscription.close()  # idempotent


def test_a_closed_node_reports_that_it_is_closed(domain: str) -> None:
    node = hyphos.Node.open("gone", domain=domain)
    node.close()
    with pytest.raises(hyphos.Error, match="closed"):
        node.publisher("n", String)


def test_spin_ends_on_request_and_releases_the_interpreter(node: hyphos.Node, inbox: Inbox) -> None:
    node.subscribe("n", String, inbox)
    publisher = node.publisher("n", String)

    def work() -> None:
        publisher.publish(String())
        inbox.wait(1)
        node.runtime.request_stop()

    thread = threading.Thread(target=work)
    thread.start()
    assert node.spin() == 0
    thread.join()


def test_channels_can_be_closed_and_opened(node: hyphos.Node, inbox: Inbox) -> None:
    node.subscribe("n", String, inbox)
    publisher = node.publisher("n", String)
    node.runtime.set_channel_open("n", False)
    assert not publisher.publish(String())
    node.runtime.set_channel_open("n", True)
    assert publisher.publish(String())
    inbox.wait(1)


def test_params_come_from_the_plan(tmp_path: Path, domain: str) -> None:
    plan = tmp_path / "robot.yaml"
    plan.write_text(
        f"hyphos: 1\ndomain: {domain}\nnodes:\n  mapper:\n    params: "
        "{rate_hz: 20, name: grid, fast: true, size: big}\n"
    )
    node = hyphos.Node.open("mapper", plan=str(plan), offline=True)
    assert node.param("rate_hz", 5.0) == 20.0
    assert node.param("rate_hz", 5) == 20
    assert node.param("name", "") == "grid"
    assert node.param("fast", False) is True
    assert node.param("absent", 3) == 3
    with pytest.raises(hyphos.Error, match=r"robot\.yaml:5") as caught:
        node.param("size", 1)
    assert caught.value.code == "invalid_config"
    node.close()


def test_unknown_message_types_come_with_a_suggestion() -> None:
    with pytest.raises(ImportError):
        exec("from hyphos.msgs import LaserScn", {})
    import hyphos.msgs as module  # noqa: PLC0415

    with pytest.raises(AttributeError, match="did you mean 'LaserScan'"):
        _ = module.LaserScn
