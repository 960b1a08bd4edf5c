"""Actions: long-running goals that send feedback and can be canceled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hyphos import _hyphos
from hyphos._errors import Error, report_callback_error
from hyphos._hyphos import TypeId
from hyphos._timeouts import to_ns
from hyphos.service import (
    CALL_TIMEOUT_MS,
    Contents,
    Responder,
    Served,
    as_future,
    in_main_thread,
    loop_for,
    spawn,
    wait_interruptibly,
)
from hyphos.types import Codec, Raw, codec_for

Goal = TypeVar("Goal")
Feedback = TypeVar("Feedback")
Res = TypeVar("Res")

_FOR_EVER_MS = 1e12


@dataclass(frozen=True)
class GoalResult(Generic[Res]):
    """The result of a goal: its final state and the result value.

    `state` is "succeeded", "canceled" or "aborted".
    """

    state: str
    value: Res

    @property
    def succeeded(self) -> bool:
        """True if the goal ended as "succeeded"."""
        return self.state == "succeeded"


@dataclass(frozen=True)
class ActionCodecs:
    goal: Codec
    feedback: Codec
    result: Codec


class GoalHandle(Generic[Goal, Feedback, Res]):
    """One goal, for the callback of the server. Thread-safe.

    Keep the handle to end the goal later. A goal that has not ended is aborted when its last handle
    is dropped.
    """

    def __init__(
        self, core: _hyphos.ServerGoal, codecs: ActionCodecs, value: Goal, name: str
    ) -> None:
        self._core = core
        self._codecs = codecs
        self._name = name
        self.value = value

    def feedback(self, value: Feedback) -> None:
        """Sends feedback to the client. Feedback that the client cannot accept is dropped and
        counted."""
        payload, buffers = self._codecs.feedback.encode(value)
        try:
            self._core.feedback(payload, buffers)
        except Error as error:
            if error.code not in ("overloaded", "disconnected"):
                raise

    def succeed(self, value: Res) -> None:
        """Ends the goal as "succeeded" with a result. Raises `hyphos.Error` if it has ended."""
        self._finish("succeeded", value)

    def abort(self, value: Res) -> None:
        """Ends the goal as "aborted" with a result. Raises `hyphos.Error` if it has ended."""
        self._finish("aborted", value)

    def fail(self, message: str, code: str = "unsupported", where: str = "") -> None:
        """Aborts the goal without a result. The client's result() raises this error."""
        self._core.fail(code, message, where)

    def canceled(self, value: Res) -> None:
        """Ends a goal as "canceled" with a result, after a request to cancel."""
        self._finish("canceled", value)

    def _finish(self, state: str, value: Res) -> None:
        payload, buffers = self._codecs.result.encode(value)
        self._core.finish(state, payload, buffers)

    def _fail_with(self, error: BaseException) -> None:
        try:
            if isinstance(error, Error):
                self._core.fail(error.code, error.message, error.where)
            else:
                report_callback_error(f"the callback of action '{self._name}'", error)
                self._core.fail("io", f"the server's callback raised {error!r}", self._name)
        except Error:
            pass  # the goal has ended already, or its client is gone

    @property
    def state(self) -> str:
        """One of accepted, executing, canceling, succeeded, canceled and aborted."""
        return self._core.state

    @property
    def cancel_requested(self) -> bool:
        """True once the goal should end: the client canceled it or is gone, or a newer goal
        preempts it."""
        return self._core.state == "canceling"

    @property
    def preempted(self) -> bool:
        """True if a newer goal replaces this one."""
        return self._core.preempted

    def wait_for(self, time_ms: float) -> bool:
        """Waits `time_ms` milliseconds without occupying a worker of the thread pool.

        Returns True as soon as the goal should end.
        """
        return self._core.wait_for(to_ns(time_ms))

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Calls `callback` once, on the thread pool, when the goal should end."""
        self._core.on_cancel(callback)


class Action(Served):
    """An action that this process serves."""


def execute_with(
    name: str, codecs: ActionCodecs, callback: Callable[[Any], Any]
) -> Callable[[_hyphos.ServerGoal], None]:
    """Adapts the user's callback to the core.

    The callback maps (goal) to None or to the result of a success, and may be async.
    """
    loop = loop_for(callback)

    def execute(core: _hyphos.ServerGoal) -> None:
        try:
            value = codecs.goal.decode(*core.contents())
        except Exception as error:  # noqa: BLE001
            core.fail("corrupt", f"the goal cannot be read: {error}", name)
            return
        goal: GoalHandle[Any, Any, Any] = GoalHandle(core, codecs, value, name)

        def finish(result: Any, error: BaseException | None) -> None:
            if error is not None:
                goal._fail_with(error)
            elif result is not None:
                try:
                    goal.succeed(result)
                except Error:
                    pass  # the goal has ended already, or its client is gone
                except Exception as problem:  # noqa: BLE001 - the value is of another type
                    goal._fail_with(problem)

        try:
            result = callback(goal)
        except Exception as error:  # noqa: BLE001
            finish(None, error)
            return
        if loop is not None:
            spawn(result, loop, finish)
        else:
            finish(result, None)

    return execute


def accept_with(
    name: str, codec: Codec, accept: Callable[[Any], object]
) -> Callable[[_hyphos.Exchange], None]:
    """Adapts `accept(goal)` to the core. It rejects by raising or by returning False."""

    def ask(exchange: _hyphos.Exchange) -> None:
        responder: Responder[Any] = Responder(exchange, codec)
        try:
            if accept(codec.decode(*exchange.contents())) is False:
                responder.refuse("the goal was rejected", "unsupported", name)
        except Exception as error:  # noqa: BLE001
            responder.refuse_with(error, name)

    return ask


def raw_action_client(
    node: Any, name: str, types: tuple[TypeId, TypeId, TypeId], known: TypeId
) -> ActionClient[Any, Any, Any]:
    """Like hyphos.service.raw_client(): goal, feedback and result are `(payload, buffers)`."""
    goal, feedback, result = types
    core = node._core.client(name, goal, feedback, result, known, False, 1)
    codecs = ActionCodecs(*(codec_for(Raw(one)) for one in types))
    return ActionClient(core, codecs)


class SentGoal(Generic[Res]):
    """A goal that a client has sent. Thread-safe. The goal continues if this handle is dropped."""

    def __init__(self, core: _hyphos.ClientGoal, codec: Codec, name: str) -> None:
        self._core = core
        self._codec = codec
        self._name = name

    def _read(self, end: tuple[str, Any, Any]) -> GoalResult[Res]:
        state, payload, buffers = end
        try:
            return GoalResult(state, self._codec.decode(payload, buffers))
        except ValueError as error:
            raise Error("corrupt", f"the result cannot be read: {error}", self._name) from error

    def accepted(self, *, timeout_ms: float = CALL_TIMEOUT_MS) -> None:
        """Waits until the server has accepted the goal. Raises `hyphos.Error`: the rejection of the
        server, or the reason why no reply came within `timeout_ms`."""
        self._core.accepted(to_ns(timeout_ms))

    def result(self, *, timeout_ms: float = _FOR_EVER_MS) -> GoalResult[Res]:
        """Waits until the goal has ended, with the GIL released.

        Raises `hyphos.Error`. After code "timeout" the goal continues, and result() may be called
        again.
        """
        if in_main_thread() and timeout_ms >= _FOR_EVER_MS:
            return self._read(wait_interruptibly(self._core.on_end))
        return self._read(self._core.result(to_ns(timeout_ms)))

    def result_async(self) -> Awaitable[GoalResult[Res]]:
        """Returns an awaitable result: `await goal.result_async()` in a coroutine. Cancelling the
        await does not cancel the goal."""
        return as_future(self._core.on_end, self._read)

    def then(self, callback: Callable[[GoalResult[Res] | None, Error | None], object]) -> None:
        """Calls `callback(result, error)` once on the thread pool, after all feedback. One of the
        two is None."""

        def told(end: Any, error: Error | None) -> None:
            if end is None:
                callback(None, error)
                return
            try:
                result = self._read(end)
            except Error as problem:
                callback(None, problem)
            else:
                callback(result, None)

        self._core.on_end(told)

    def cancel(self) -> None:
        """Asks the server to cancel the goal. Does not wait: result() returns the final state."""
        self._core.cancel()

    @property
    def state(self) -> str:
        """One of sent, accepted, executing, canceling, succeeded, canceled and aborted."""
        return self._core.state

    @property
    def feedback_dropped(self) -> int:
        """The number of feedback messages that were dropped for this goal."""
        return self._core.feedback_dropped


class ActionClient(Generic[Goal, Feedback, Res]):
    """Sends goals to an action server. Thread-safe. Several goals may be in flight."""

    def __init__(self, core: _hyphos.CallClient, codecs: ActionCodecs) -> None:
        self._core = core
        self._codecs = codecs

    def send(
        self,
        goal: Goal,
        feedback: Callable[[Feedback], object] | None = None,
        *,
        accept_timeout_ms: float = CALL_TIMEOUT_MS,
    ) -> SentGoal[Res]:
        """Sends a goal and returns at once.

        `feedback(value)` runs on the thread pool, in order. To reach an event loop from it, use
        loop.call_soon_threadsafe(). Raises `hyphos.Error` if `max_pending` goals are in flight.
        """
        payload, buffers = self._codecs.goal.encode(goal)
        hear: Callable[[Contents], None] | None = None
        if feedback is not None:
            tell = feedback

            def hear(contents: Contents) -> None:
                tell(self._codecs.feedback.decode(*contents))

        core = self._core.send_goal(payload, buffers, to_ns(accept_timeout_ms), hear)
        return SentGoal(core, self._codecs.result, self.name)

    async def run(
        self,
        goal: Goal,
        feedback: Callable[[Feedback], object] | None = None,
        *,
        accept_timeout_ms: float = CALL_TIMEOUT_MS,
    ) -> GoalResult[Res]:
        """Sends a goal and awaits its result. `feedback(value)` runs in the event loop.

        Cancelling the await cancels the goal.
        """
        loop = asyncio.get_running_loop()
        hear: Callable[[Feedback], object] | None = None
        if feedback is not None:
            tell = feedback

            def hear(value: Feedback) -> object:
                return None if loop.is_closed() else loop.call_soon_threadsafe(tell, value)

        sent = self.send(goal, hear, accept_timeout_ms=accept_timeout_ms)
        try:
            return await sent.result_async()
        except asyncio.CancelledError:
            sent.cancel()
            raise

    @property
    def ready(self) -> bool:
        """True if a server is known now."""
        return self._core.ready

    def wait_for_server(self, *, timeout_ms: float = CALL_TIMEOUT_MS) -> None:
        """Waits for a server. Raises `hyphos.Error`: not_found or type_mismatch."""
        self._core.wait_for_server(to_ns(timeout_ms))

    @property
    def name(self) -> str:
        """The name of the action."""
        return self._core.name

    def close(self) -> None:
        """Ends the goals in flight with an error."""
        self._core.close()
