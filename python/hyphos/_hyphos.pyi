"""Types of the compiled module (python/src). Programs use the package `hyphos`.

Only the classes that `hyphos` exports have documentation here. Times are in nanoseconds."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer as _AnyBuffer

from hyphos._errors import Error

class Buffer:
    """Immutable bytes that keep their memory alive: a shared-memory slot or a received frame.

    Supports the buffer protocol: memoryview() and numpy.frombuffer() do not copy, and keep the
    memory alive as long as the view. A kept Buffer occupies its slot. Thread-safe."""

    def __init__(self, data: _AnyBuffer) -> None:
        """Copies `data`. A Buffer, or a contiguous view of one, shares its memory instead.

        A WritableBuffer, or a view of one, shares its memory too. Its loan then ends."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    @property
    def address(self) -> int:
        """The address of the bytes in this process."""

    def slice(self, offset: int, size: int) -> Buffer:
        """`size` bytes from `offset` of the same memory, without a copy.

        Raises IndexError if the range exceeds the buffer."""

class WritableBuffer:
    """Loaned memory, to be filled and published, or dropped. It is not initialised.

    Supports the buffer protocol. After publishing, the memory is immutable: do not write to
    views that were made before. For one thread at a time."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    @property
    def address(self) -> int:
        """The address of the bytes in this process."""

    @property
    def frozen(self) -> bool:
        """True once the loan has ended by publishing or freeze()."""

    def freeze(self) -> Buffer:
        """Ends the loan and returns the same memory as an immutable Buffer."""

class Policy:
    """The policy of a channel, as `channels:` of the plan sets it.

    `reliability` is best_effort or reliable. `overflow` is drop_oldest, drop_newest or block.
    An empty `overflow` follows the reliability: block if reliable, otherwise drop_oldest.
    `priority` is low, normal or high. Raises ValueError for other words and numbers."""

    def __init__(
        self,
        *,
        reliability: str = "best_effort",
        overflow: str = "",
        priority: str = "normal",
        latched: bool = False,
        depth: int = 10,
        deadline_ms: int = 0,
        block_timeout_ms: int = 0,
        lifespan_ms: int = 0,
        latched_depth: int = 1,
    ) -> None: ...
    @property
    def reliability(self) -> str:
        """best_effort: a full queue may drop and counts it. reliable: delivered, or an error."""

    @property
    def overflow(self) -> str:
        """The action of a full queue: drop_oldest, drop_newest or block."""

    @property
    def priority(self) -> str:
        """low, normal or high."""

    @property
    def latched(self) -> bool:
        """True if a late subscriber immediately gets the last messages: see `latched_depth`."""

    @property
    def depth(self) -> int:
        """Messages that can wait in each queue, 1 to 65536."""

    @property
    def deadline_ms(self) -> int:
        """The longest expected time between messages. Later is counted. 0: off."""

    @property
    def block_timeout_ms(self) -> int:
        """The longest wait of a blocked publisher. 0: no limit."""

    @property
    def lifespan_ms(self) -> int:
        """An older message is dropped and counted before its callback. 0: no limit."""

    @property
    def latched_depth(self) -> int:
        """Messages of each publisher for a late subscriber, if `latched`. 1 to 256."""

class TypeId:
    """Identifies a message type in all processes and languages.

    All endpoints of a channel must have the same id. `encoding` is struct, bytes,
    protobuf, attached or custom. `size` is the size of a struct in bytes, otherwise 0."""

    def __init__(self, name: str, encoding: str, size: int = 0) -> None: ...
    @staticmethod
    def known(name: str, encoding: str, hash: int) -> TypeId:
        """The id from another process or a recording, without the size of the type."""

    @property
    def name(self) -> str:
        """The full name, e.g. "hyphos.msgs.LaserScan"."""

    @property
    def encoding(self) -> str:
        """The encoding of the payload."""

    @property
    def hash(self) -> int:
        """FNV-1a 64 of the name, the encoding and the size of a struct."""

class Published:
    """The result of one publish(). It is False if the message failed.

    A best-effort drop is not a failure: see `dropped`."""

    @property
    def sequence(self) -> int:
        """The number of the message, counted by its publisher."""

    @property
    def accepted(self) -> int:
        """Queues that accepted the message: local subscriptions and remote receivers."""

    @property
    def dropped(self) -> int:
        """Queues that dropped a message: this one, or with drop_oldest the oldest one, to accept
        this one. So a burst beyond the depth is visible here. Each drop is counted under its
        reason."""

    @property
    def failure(self) -> str | None:
        """The code of the error, such as timeout or too_large. None: no failure."""

    def __bool__(self) -> bool: ...

class MessageInfo:
    """Data of a received message besides its value."""

    @property
    def sequence(self) -> int:
        """The number of the message, counted by its publisher."""

    @property
    def sender(self) -> int:
        """The id of the publisher."""

    @property
    def replayed(self) -> bool:
        """True for a latched message that was sent again to a late subscriber."""

    @property
    def stamps(self) -> dict[str, int]:
        """CLOCK_MONOTONIC in ns at each layer. 0: the message did not cross the layer.

        The layers are publish, encoded, handed (to the transport), arrived, scheduled, decoded
        and callback."""

class Publisher:
    def publish(self, payload: object, buffers: Sequence[object] = ()) -> Published: ...
    def try_publish(self, payload: object, buffers: Sequence[object] = ()) -> Published: ...
    def wait_for(self, subscribers: int, timeout_ns: int) -> None: ...
    def loan(self, size: int) -> WritableBuffer: ...
    def has_room(self, size: int = 0) -> bool: ...
    @property
    def listeners(self) -> int: ...
    @property
    def channel(self) -> str: ...
    def close(self) -> None: ...

class Subscription:
    """A handle of a subscription. The node owns it: dropping the handle has no effect.

    Thread-safe."""

    def close(self) -> None:
        """Ends the subscription. Idempotent.

        On return no callback runs, unless close() is called inside that callback."""

    @property
    def publishers(self) -> int:
        """Currently known publishers, in this process and outside."""

    @property
    def channel(self) -> str:
        """The name of the channel."""

class CallbackGroup:
    """Subscriptions of which at most one callback runs at a time: Node.callback_group()."""

class SyncCounts:
    """Messages of one channel of a synchronizer: received = matched + unmatched + waiting."""

    @property
    def channel(self) -> str:
        """The name of the channel."""

    @property
    def received(self) -> int:
        """Messages of the channel."""

    @property
    def matched(self) -> int:
        """Messages that were passed to the callback."""

    @property
    def waiting(self) -> int:
        """Messages that wait for partners."""

    @property
    def unmatched(self) -> int:
        """Messages without a set."""

    @property
    def reasons(self) -> dict[str, int]:
        """The unmatched messages by reason, such as "queue_full". All reasons are keys."""

class Synchronizer:
    """A handle of the subscriptions of Node.synchronize(). The node owns them. Thread-safe."""

    def counts(self) -> list[SyncCounts]:
        """One entry for each channel. The entries are consistent with each other."""

    def close(self) -> None:
        """Ends the subscriptions and drops the waiting messages. Idempotent."""

class Timer:
    """A handle of a timer. The node owns the timer: dropping the handle has no effect.

    Thread-safe."""

    def close(self) -> None:
        """Ends the timer. On return its callback does not run, unless called inside it."""

    @property
    def skipped(self) -> int:
        """Calls that were skipped because the previous call still ran, or the machine was late."""

class ClockJump:
    """A jump of the clock to another time."""

    @property
    def before_ns(self) -> int:
        """The time before the jump."""

    @property
    def after_ns(self) -> int:
        """The time after the jump."""

    @property
    def delta_ns(self) -> int:
        """The time after the jump minus the time before. Negative: back."""

class Clock:
    def now_ns(self) -> int: ...
    def base_ns(self) -> int: ...
    def elapsed_ns(self) -> int: ...
    @property
    def mode(self) -> str: ...
    @property
    def ready(self) -> bool: ...
    @property
    def paused(self) -> bool: ...
    @property
    def speed(self) -> float: ...
    @property
    def jumps(self) -> int: ...
    def sleep_until_ns(self, time_ns: int) -> bool: ...
    def sleep_for_ns(self, span_ns: int) -> bool: ...

class Rate:
    def __init__(self, clock: Clock, period_ns: int) -> None: ...
    def sleep(self) -> bool: ...
    @property
    def skipped(self) -> int: ...
    @property
    def period_ns(self) -> int: ...

class SimTime:
    @staticmethod
    def open(
        node: Node,
        *,
        start_ns: int | None,
        speed: float | None,
        tick_ns: int,
        paused: bool,
        manual: bool,
        replayed: bool,
        channel: str,
    ) -> SimTime: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def step_ns(self, span_ns: int) -> None: ...
    def advance_ns(self, span_ns: int, give_up: Callable[[], bool] | None = None) -> bool: ...
    def set_speed(self, speed: float) -> None: ...
    def jump_ns(self, time_ns: int) -> None: ...
    def now_ns(self) -> int: ...
    def base_ns(self) -> int: ...
    @property
    def paused(self) -> bool: ...
    @property
    def speed(self) -> float: ...
    def close(self) -> None: ...

class CallClient:
    def call(
        self, payload: object, buffers: Sequence[object], timeout_ns: int
    ) -> tuple[Buffer, list[Buffer]]: ...
    def call_async(
        self,
        payload: object,
        buffers: Sequence[object],
        timeout_ns: int,
        callback: Callable[[Any, Error | None], None],
    ) -> int: ...
    def send_goal(
        self,
        payload: object,
        buffers: Sequence[object],
        accept_timeout_ns: int,
        feedback: Callable[[tuple[Buffer, list[Buffer]]], None] | None,
    ) -> ClientGoal: ...
    def wait_for_server(self, timeout_ns: int) -> None: ...
    def cancel(self, id: int) -> None: ...
    @property
    def ready(self) -> bool: ...
    @property
    def name(self) -> str: ...
    def close(self) -> None: ...

class ClientGoal:
    def accepted(self, timeout_ns: int) -> None: ...
    def result(self, timeout_ns: int) -> tuple[str, Buffer, list[Buffer]]: ...
    def on_end(self, callback: Callable[[Any, Error | None], None]) -> None: ...
    def cancel(self) -> None: ...
    @property
    def state(self) -> str: ...
    @property
    def feedback_dropped(self) -> int: ...

class CallServer:
    def close(self) -> None: ...
    @property
    def pending(self) -> int: ...
    @property
    def name(self) -> str: ...

class Exchange:
    def contents(self) -> tuple[Buffer, list[Buffer]]: ...
    def reply(self, payload: object, buffers: Sequence[object]) -> None: ...
    def refuse(self, code: str, message: str, where: str) -> None: ...
    @property
    def answered(self) -> bool: ...
    @property
    def canceled(self) -> bool: ...

class ServerGoal:
    def contents(self) -> tuple[Buffer, list[Buffer]]: ...
    def feedback(self, payload: object, buffers: Sequence[object]) -> None: ...
    def finish(self, state: str, payload: object, buffers: Sequence[object]) -> None: ...
    def fail(self, code: str, message: str, where: str) -> None: ...
    def wait_for(self, time_ns: int) -> bool: ...
    def on_cancel(self, callback: Callable[[], object]) -> None: ...
    @property
    def preempted(self) -> bool: ...
    @property
    def state(self) -> str: ...

class ChannelInfo:
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> TypeId: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def publishers(self) -> int: ...

class GroupNode:
    """A node of a group."""

    @property
    def group(self) -> str: ...
    @property
    def node(self) -> str: ...
    @property
    def process(self) -> str: ...
    @property
    def running(self) -> bool: ...
    @property
    def reachable(self) -> bool: ...

class GroupChannel:
    """A channel of a group in one process."""

    @property
    def process(self) -> str: ...
    @property
    def channel(self) -> str: ...
    @property
    def open(self) -> str: ...

class GroupState:
    """The nodes of a group, and its changed channels."""

    @property
    def nodes(self) -> list[GroupNode]: ...
    @property
    def channels(self) -> list[GroupChannel]: ...

class CallbackErrors:
    """The exceptions that left callbacks of a process."""

    @property
    def count(self) -> int: ...
    @property
    def first(self) -> str:
        """The callback that raised first, and its exception."""

class Runtime:
    @staticmethod
    def open(argv: Sequence[str]) -> Runtime: ...
    @staticmethod
    def open_with(
        plan: str,
        process: str,
        overrides: Sequence[str],
        domain: str,
        threads: int,
        offline: bool,
        lockstep: bool = False,
        lockstep_nodes: Sequence[str] = (),
        clock: str = "",
        plan_text: str = "",
    ) -> Runtime: ...
    def settle(self, work: Callable[[], object] | None = None) -> None: ...
    def channels(self) -> list[ChannelInfo]: ...
    def callback_errors(self) -> CallbackErrors: ...
    def next_timer_ns(self) -> int | None: ...
    def node(self, name: str) -> Node: ...
    def load_plugins(self) -> None: ...
    def set_channel_open(
        self, channel: str, open: bool, where: str = "both", peer: str | None = None
    ) -> None: ...
    def open_channel_only(self, channel: str, where: str) -> None: ...
    def channel_open(self, channel: str) -> str: ...
    def change_group(
        self, group: str, action: str, process: str, where: str, timeout_ms: float
    ) -> GroupState: ...
    def hosts(self, node: str) -> bool: ...
    def set_node_host(self, host: Callable[[str, bool], object] | None) -> None: ...
    def spin(self) -> int: ...
    def announce_types(self, descriptors: bytes) -> None: ...
    def announced_types(self) -> bytes: ...
    def ready(self) -> None: ...
    def endpoints(self) -> list[EndpointInfo]: ...
    def request_stop(self) -> None: ...
    @property
    def stopping(self) -> bool: ...
    @property
    def process(self) -> str: ...
    @property
    def domain(self) -> str: ...
    def close(self) -> None: ...

class Node:
    @staticmethod
    def open(name: str, argv: Sequence[str]) -> Node: ...
    def spin(self) -> int: ...
    def publisher(
        self, channel: str, type: TypeId, local: bool, policy: Policy | None = None
    ) -> Publisher: ...
    def subscribe(
        self,
        channel: str,
        type: TypeId,
        callback: Callable[[Buffer, list[Buffer], MessageInfo], object],
        mode: str,
        local: bool,
        policy: Policy | None = None,
        group: CallbackGroup | None = None,
    ) -> Subscription: ...
    def callback_group(self) -> CallbackGroup: ...
    def synchronize(
        self,
        channels: Sequence[str],
        types: Sequence[TypeId],
        decoders: Sequence[Callable[[Buffer, list[Buffer]], tuple[int, Any]]],
        callback: Callable[[list[Any]], object],
        rule: str,
        queue: int,
        max_interval_ns: int,
        age_penalty: float,
        min_spacing_ns: Sequence[int],
        local: bool,
        policy: Policy | None = None,
    ) -> Synchronizer: ...
    def service(
        self,
        name: str,
        request: TypeId,
        reply: TypeId,
        callback: Callable[[Exchange], None],
        mode: str,
        local: bool,
        depth: int,
        max_pending: int,
    ) -> CallServer: ...
    def client(
        self,
        name: str,
        request: TypeId,
        feedback: TypeId | None,
        reply: TypeId,
        known: TypeId | None,
        local: bool,
        max_pending: int,
    ) -> CallClient: ...
    def action(
        self,
        name: str,
        goal: TypeId,
        feedback: TypeId,
        result: TypeId,
        execute: Callable[[ServerGoal], None],
        accept: Callable[[Exchange], None] | None,
        policy: str,
        local: bool,
        depth: int,
        cancel_if_unwatched: bool,
    ) -> CallServer: ...
    def announce_types(self, descriptors: bytes) -> None: ...
    def every(self, period_ns: int, callback: Callable[[], object]) -> Timer: ...
    @property
    def clock(self) -> Clock: ...
    def on_clock_jump(self, callback: Callable[[ClockJump], object]) -> Timer: ...
    def param_bool(self, name: str, fallback: bool) -> bool: ...
    def param_int(self, name: str, fallback: int) -> int: ...
    def param_float(self, name: str, fallback: float) -> float: ...
    def param_str(self, name: str, fallback: str) -> str: ...
    def params(self) -> Params: ...
    def change_channel(
        self,
        participant: int,
        channel: str,
        open: bool,
        where: str,
        only: bool,
        peer: str,
        timeout_ms: float,
    ) -> str: ...
    def change_group(
        self, asked: str, group: str, action: str, process: str, where: str, timeout_ms: float
    ) -> GroupState: ...
    def remote_params(self, node: str) -> RemoteParams: ...
    def shared_params(self) -> SharedParams: ...
    def log_enabled(self, level: int) -> bool: ...
    def set_log_level(self, level: int | None) -> None: ...
    def log_line(
        self,
        level: int,
        text: str,
        name: str,
        file: str,
        function: str,
        line: int,
        to_stderr: bool,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def runtime(self) -> Runtime: ...
    def close(self) -> None: ...

class ParamInfo:
    """One parameter: its value at one instant and its declaration. Immutable."""

    @property
    def name(self) -> str:
        """Words joined by '.', at most 128 bytes."""

    @property
    def type(self) -> str:
        """The type of the value, as in the plan."""

    @property
    def value(self) -> Any:
        """The value."""

    @property
    def default(self) -> Any:
        """The default, of the same type."""

    @property
    def yaml(self) -> str:
        """The value as YAML."""

    @property
    def default_yaml(self) -> str:
        """The default as YAML."""

    @property
    def unit(self) -> str:
        """The unit, e.g. "m/s". Empty: none."""

    @property
    def description(self) -> str:
        """The description from the declaration."""

    @property
    def range(self) -> tuple[float, float, float] | None:
        """(least, most, step), both ends included. Step 0: every value between. None: no range."""

    @property
    def choices(self) -> list[str]:
        """Allowed texts. Empty: any text."""

    @property
    def allowed(self) -> str:
        """The range or the choices as text, e.g. "0 to 2". Empty: no limit."""

    @property
    def read_only(self) -> bool:
        """True if the value is fixed after the declaration."""

    @property
    def origin(self) -> str:
        """The source of the value: default, plan, restored (after a restart) or set."""

class ParamSet:
    """All parameters of one node at one instant: an immutable snapshot, sorted by name.

    `set[name]` is a value, and raises KeyError with a suggestion for an unknown name."""

    @property
    def infos(self) -> list[ParamInfo]:
        """The parameters, sorted by name."""

    def find(self, name: str) -> ParamInfo | None:
        """The parameter of this name, or None."""

    def __getitem__(self, name: str) -> Any: ...
    def __contains__(self, name: object) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    @property
    def version(self) -> int:
        """Increases with every change of the node."""

    @property
    def changed(self) -> list[str]:
        """Names that are about to change (in a check), or have changed (in a watch)."""

    def suggestion(self, name: str) -> str:
        """ "; did you mean 'x'?" or "; parameters are: a, b" for an unknown name."""

class ParamCell:
    @property
    def value(self) -> Any: ...
    @property
    def name(self) -> str: ...

class ParamWatch:
    """A handle of a watch. The node owns the watch: dropping the handle has no effect."""

    def close(self) -> None:
        """Ends the watch. On return its callback does not run, unless called inside it."""

    @property
    def merged(self) -> int:
        """Changes that were merged into a later call because the callback was busy."""

class Params:
    def declare(
        self,
        name: str,
        default: object,
        type: str,
        unit: str,
        description: str,
        range: tuple[float | None, ...] | None,
        choices: Sequence[str],
        read_only: bool,
        check: Callable[[Any], object] | None,
    ) -> ParamCell: ...
    def set(self, values: Sequence[tuple[str, object]]) -> None: ...
    def values(self) -> ParamSet: ...
    def check(self, check: Callable[[ParamSet], object]) -> None: ...
    def watch(self, name: str, callback: Callable[[ParamSet], object]) -> ParamWatch: ...
    def done(self) -> None: ...

class RemoteParams:
    def wait(self, timeout_ns: int) -> ParamSet: ...
    def values(self) -> ParamSet: ...
    def set(self, values: Sequence[tuple[str, object]], timeout_ns: int) -> None: ...
    def watch(self, callback: Callable[[ParamSet], object]) -> ParamWatch: ...
    @property
    def node(self) -> str: ...
    @property
    def present(self) -> bool: ...
    @property
    def process(self) -> str: ...
    @property
    def undeclared(self) -> list[str]: ...
    def close(self) -> None: ...

class SharedParams:
    def get(self, path: str) -> Any: ...
    def has(self, path: str) -> bool: ...
    def yaml(self, path: str) -> str: ...
    def set(self, values: Sequence[tuple[str, object]]) -> None: ...
    def set_yaml(self, lines: Sequence[tuple[str, str]]) -> None: ...
    def set_file(self, file: str) -> None: ...
    def load(self, file: str) -> None: ...
    def remove(self, path: str) -> None: ...
    def watch(self, path: str, callback: Callable[[list[str]], object]) -> ParamWatch: ...
    def wait(self, timeout_ns: int) -> None: ...
    def settle(self, timeout_ns: int) -> int: ...

def read_tree(file: str) -> dict[str, Any]: ...
def report_crashes(process: str) -> None: ...
def parse_param(type: str, text: str) -> Any: ...
def nodes_with_params(domain: str) -> list[str]: ...
def read_params(file: str, plain_node: str = "") -> list[tuple[str, str, str, str]]: ...
def params_text(lines: Sequence[tuple[str, str, str, str]], heading: str) -> str: ...
def save_params(file: str, lines: Sequence[tuple[str, str, str, str]]) -> None: ...

class Transform:
    def __init__(
        self,
        parent: str,
        child: str,
        stamp_ns: int,
        translation: tuple[float, float, float],
        rotation: tuple[float, float, float, float],
    ) -> None: ...
    @staticmethod
    def from_matrix(
        parent: str, child: str, stamp_ns: int, matrix: NDArray[np.float64]
    ) -> Transform: ...
    @staticmethod
    def quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]: ...
    @property
    def parent(self) -> str: ...
    @property
    def child(self) -> str: ...
    @property
    def stamp_ns(self) -> int: ...
    @property
    def translation(self) -> NDArray[np.float64]: ...
    @property
    def rotation(self) -> NDArray[np.float64]: ...
    @property
    def matrix(self) -> NDArray[np.float64]: ...
    @property
    def roll_pitch_yaw(self) -> tuple[float, float, float]: ...
    def inverse(self) -> Transform: ...
    def compose(self, inner: Transform, /) -> Transform: ...
    def move_in_place(
        self, memory: NDArray[np.uint8], offset: int, stride: int, count: int, is_double: bool
    ) -> None: ...

class TransformEdge:
    """One frame and its pose in its parent."""

    @property
    def parent(self) -> str:
        """The name of the parent frame."""

    @property
    def child(self) -> str:
        """The name of the frame."""

    @property
    def is_static(self) -> bool:
        """True for a transform that is valid at all times."""

    @property
    def samples(self) -> int:
        """Samples in the history."""

    @property
    def oldest_ns(self) -> int:
        """The oldest sample of the history. 0: none."""

    @property
    def newest_ns(self) -> int:
        """The newest sample of the history. 0: none."""

    @property
    def accepted(self) -> int:
        """Transforms accepted since the start."""

    @property
    def sender(self) -> int:
        """The publisher of the newest transform. 0: set in this process."""

class Transforms:
    def set(self, transforms: Sequence[Transform], is_static: bool) -> None: ...
    def get(self, target: str, source: str, time_ns: int, timeout_ns: int) -> Transform: ...
    def get_between(
        self,
        target: str,
        target_time_ns: int,
        source: str,
        source_time_ns: int,
        fixed_frame: str,
    ) -> Transform: ...
    def wait(
        self,
        target: str,
        source: str,
        time_ns: int,
        timeout_ns: int,
        done: Callable[[Transform | None, Error | None], object],
    ) -> None: ...
    def chain(self, target: str, source: str, /) -> tuple[list[str], int]: ...
    def edges(self) -> list[TransformEdge]: ...
    def counters(self) -> dict[str, int]: ...
    def clear(self) -> None: ...
    @property
    def channel(self) -> str: ...

def open_transforms(
    node: Node,
    prefix: str,
    history_ns: int,
    max_samples: int,
    max_frames: int,
    clock_jump_ns: int,
) -> Transforms: ...

class Histogram:
    def __init__(self) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def min_ns(self) -> int: ...
    @property
    def max_ns(self) -> int: ...
    @property
    def mean_ns(self) -> float: ...
    @property
    def buckets(self) -> list[tuple[int, int]]: ...
    def percentile_ns(self, fraction: float) -> int: ...
    def since(self, earlier: Histogram) -> Histogram: ...

class EndpointInfo:
    @property
    def channel(self) -> str: ...
    @property
    def node(self) -> str: ...
    @property
    def type_name(self) -> str: ...
    @property
    def encoding(self) -> str: ...
    @property
    def type_hash(self) -> int: ...
    @property
    def is_publisher(self) -> bool: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def mode(self) -> str: ...
    @property
    def transports(self) -> str: ...
    @property
    def last_ns(self) -> int: ...
    @property
    def counters(self) -> list[tuple[str, int]]: ...
    def counter(self, name: str) -> int: ...
    @property
    def latency(self) -> Histogram: ...
    @property
    def layers(self) -> list[tuple[str, Histogram]]: ...
    @property
    def id(self) -> int: ...

class ClockStatus:
    @property
    def mode(self) -> str: ...
    @property
    def channel(self) -> str: ...
    @property
    def ready(self) -> bool: ...
    @property
    def paused(self) -> bool: ...
    @property
    def replayed(self) -> bool: ...
    @property
    def speed(self) -> float: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def base_ns(self) -> int: ...
    @property
    def jumps(self) -> int: ...

class PeerClock:
    @property
    def process(self) -> str: ...
    @property
    def endpoint(self) -> str: ...
    @property
    def host(self) -> int: ...
    @property
    def offset_ns(self) -> int: ...
    @property
    def wall_ahead_ns(self) -> int: ...
    @property
    def uncertainty_ns(self) -> int: ...
    @property
    def round_trip_ns(self) -> int: ...
    @property
    def drift_ppm(self) -> float: ...
    @property
    def samples(self) -> int: ...
    @property
    def measured_ns(self) -> int: ...

class ProcessInfo:
    @property
    def name(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def participant(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def heartbeat_ns(self) -> int: ...
    @property
    def endpoints(self) -> list[EndpointInfo]: ...
    @property
    def clock(self) -> ClockStatus: ...
    @property
    def peer_clocks(self) -> list[PeerClock]: ...

class Plan:
    @staticmethod
    def load(
        path: str,
        overrides: Sequence[str],
        check_files: bool,
        check_hosts: Sequence[str] = (),
    ) -> Plan: ...
    def text(self) -> str: ...
    def json(self) -> str: ...
    def dot(self) -> str: ...
    def program_file(self, name: str) -> str: ...
    def route(self, channel: str, from_process: str, to_process: str) -> str: ...
    @property
    def warnings(self) -> list[str]: ...

class Participant:
    @property
    def domain(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def alive(self) -> bool: ...
    @property
    def process(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def ends(self) -> int: ...
    @property
    def queues(self) -> int: ...

class Segment:
    @property
    def file(self) -> str: ...
    @property
    def participant(self) -> str: ...
    @property
    def bytes(self) -> int: ...
    @property
    def slots(self) -> int: ...
    @property
    def slot_size(self) -> int: ...
    @property
    def used(self) -> int: ...
    @property
    def holders(self) -> int: ...

class Lane:
    @property
    def channel(self) -> str: ...
    @property
    def sender(self) -> str: ...
    @property
    def receiver(self) -> str: ...
    @property
    def depth(self) -> int: ...
    @property
    def waiting(self) -> int: ...
    @property
    def drops(self) -> int: ...

class Listing:
    @property
    def participants(self) -> list[Participant]: ...
    @property
    def segments(self) -> list[Segment]: ...
    @property
    def lanes(self) -> list[Lane]: ...
    @property
    def free_bytes(self) -> int: ...
    @property
    def total_bytes(self) -> int: ...

def shm_list(domain: str = "") -> Listing: ...
def shm_clean(domain: str = "") -> list[str]: ...
def make_curve_keys() -> tuple[str, str]: ...
def inspect(domain: str = "0") -> list[ProcessInfo]: ...

class AnnouncedTypes:
    @property
    def participant(self) -> int: ...
    @property
    def pid(self) -> int: ...
    @property
    def process(self) -> str: ...
    @property
    def descriptors(self) -> bytes: ...

def announced_types(domain: str = "0") -> list[AnnouncedTypes]: ...

class RecordedEnd:
    @property
    def id(self) -> int: ...
    @property
    def channel(self) -> str: ...
    @property
    def node(self) -> str: ...
    @property
    def is_publisher(self) -> bool: ...

class RecordedEvents:
    @property
    def process(self) -> str: ...
    @property
    def pid(self) -> int: ...
    @property
    def participant(self) -> int: ...
    @property
    def next(self) -> int: ...
    @property
    def missed(self) -> int: ...
    @property
    def ends(self) -> list[RecordedEnd]: ...
    @property
    def events(self) -> bytes: ...

def recorded_events(domain: str = "0", since: dict[int, int] = {}) -> list[RecordedEvents]: ...
def close_all() -> None: ...
def monotonic_ns() -> int: ...
def serve_robot(
    link_fd: int,
    name: str,
    plan: str,
    settings: list[str],
    nodes: list[str],
    make: Callable[[Runtime], None],
) -> None: ...

class ManualClock:
    ns: int
    def __init__(self) -> None: ...

class RecorderStatus:
    @property
    def channels(self) -> dict[str, dict[str, int]]: ...
    @property
    def bytes_on_disk(self) -> int: ...
    @property
    def waiting_bytes(self) -> int: ...
    @property
    def held_bytes(self) -> int: ...
    @property
    def ring_bytes(self) -> int: ...
    @property
    def ring_ns(self) -> int: ...
    @property
    def uncompressed_chunks(self) -> int: ...
    @property
    def files(self) -> list[str]: ...
    @property
    def failure(self) -> str | None: ...

class RecordingWritten:
    @property
    def path(self) -> str: ...
    @property
    def messages(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def start_ns(self) -> int: ...
    @property
    def end_ns(self) -> int: ...

class Recorder:
    @staticmethod
    def open(
        path: str,
        *,
        overwrite: bool = False,
        chunk_bytes: int = ...,
        compression: str = "zstd",
        queue_bytes: int = ...,
        hold_bytes: int | None = None,
        flush_ns: int = ...,
        split_bytes: int = 0,
        split_ns: int = 0,
        keep_files: int = 0,
        ring_bytes: int = 0,
        ring_ns: int = 0,
        deterministic: bool = False,
        clock: ManualClock | None = None,
        sync: bool = False,
    ) -> Recorder: ...
    def add_channel(
        self,
        channel: str,
        message_encoding: str,
        schema_name: str | None = None,
        schema_encoding: str = "",
        schema_data: bytes = b"",
        metadata: dict[str, str] = ...,
        latched_depth: int = 0,
    ) -> int: ...
    def subscribe(
        self, node: Node, id: int, channel: str, type: TypeId, policy: Policy
    ) -> None: ...
    def accept(
        self,
        id: int,
        publish_ns: int,
        payload: object,
        buffers: Sequence[object] = (),
        sequence: int = 0,
        sender: int = 0,
    ) -> None: ...
    def refuse(self, id: int, sequence: int, sender: int) -> None: ...
    def attach(
        self, name: str, media_type: str, data: bytes, log_ns: int = 0, create_ns: int = 0
    ) -> None: ...
    def describe(self, name: str, values: dict[str, str]) -> None: ...
    def flush(self) -> None: ...
    def split(self) -> None: ...
    def snapshot(self, path: str, overwrite: bool = False) -> RecordingWritten: ...
    def close(self) -> None: ...
    def status(self) -> RecorderStatus: ...

class McapWriter:
    @staticmethod
    def create(
        path: str,
        profile: str = "hyphos",
        *,
        overwrite: bool = False,
        chunk_bytes: int = ...,
        compression: str = "zstd",
    ) -> McapWriter: ...
    def add_schema(self, name: str, encoding: str, data: bytes) -> int: ...
    def add_channel(
        self, topic: str, message_encoding: str, schema_id: int, metadata: dict[str, str] = ...
    ) -> int: ...
    def write(
        self, channel: int, log_ns: int, publish_ns: int, sequence: int, data: bytes
    ) -> None: ...
    def attach(
        self, name: str, media_type: str, data: bytes, log_ns: int = 0, create_ns: int = 0
    ) -> None: ...
    def describe(self, name: str, values: dict[str, str]) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
    @property
    def messages(self) -> int: ...
    @property
    def size(self) -> int: ...

class RosTypes:
    def __init__(self, descriptors: bytes) -> None: ...
    def read(
        self,
        ros_name: str,
        form: str,
        message: bytes,
        carrier: str,
        attached: bool,
        now_ns: int,
    ) -> tuple[Buffer, list[Buffer], str]: ...
    def write(
        self,
        ros_name: str,
        form: str,
        payload: _AnyBuffer,
        buffers: Sequence[_AnyBuffer],
        carrier: str,
    ) -> Buffer: ...
    def default_carrier(self, ros_name: str) -> tuple[str, bool]: ...
    def message(self, name: str) -> tuple[str, str, str, str]: ...
