"""Services: request and reply. See docs/how-to/services.md."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

from hyphos import _hyphos
from hyphos._errors import Error, report_callback_error
from hyphos._hyphos import Buffer, TypeId
from hyphos._timeouts import to_ns
from hyphos.types import Codec, Raw, codec_for

Req = TypeVar("Req")
Rep = TypeVar("Rep")
T = TypeVar("T")

Contents = tuple[Buffer, list[Buffer]]
CALL_TIMEOUT_MS = 5000.0
_SIGNAL_CHECK_S = 0.1


def in_main_thread() -> bool:
    """True in the main thread. Only there Python handles Ctrl-C, and only between calls of the
    core."""
    return threading.current_thread() is threading.main_thread()


def wait_interruptibly(
    start: Callable[[Callable[[Any, Error | None], None]], Any],
    give_up: Callable[[Any], object] | None = None,
) -> Any:
    """Waits in the main thread for the result that `start` passes to its callback.

    Ctrl-C ends the wait and calls `give_up` with the value that `start` returned.
    """
    done = threading.Event()
    end: list[tuple[Any, Error | None]] = []

    def told(value: Any, error: Error | None) -> None:
        end.append((value, error))
        done.set()

    token = start(told)
    try:
        # A signal that arrives just before the wait does not end it, so the wait is divided.
        while not done.wait(_SIGNAL_CHECK_S):
            pass
    except BaseException:
        if give_up is not None:
            give_up(token)
        raise
    value, error = end[0]
    if error is not None:
        raise error
    return value


def as_future(
    start: Callable[[Callable[[Any, Error | None], None]], object],
    finish: Callable[[Any], T],
    give_up: Callable[[Any], object] | None = None,
) -> asyncio.Future[T]:
    """An asyncio future of the running loop for the result that `start` passes to its callback.

    Cancelling the future calls `give_up` with the value that `start` returned.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: Any, error: Error | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
            return
        try:
            future.set_result(finish(value))
        except Exception as problem:  # noqa: BLE001
            future.set_exception(problem)

    def told(value: Any, error: Error | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, value, error)

    token = start(told)
    if give_up is not None:
        stop = give_up
        future.add_done_callback(lambda f: stop(token) if f.cancelled() else None)
    return future


def spawn(
    coroutine: Coroutine[Any, Any, T],
    loop: asyncio.AbstractEventLoop | None,
    done: Callable[[T | None, BaseException | None], None],
) -> None:
    """Runs the coroutine of an `async def` callback on the event loop of its owner."""
    if loop is None or loop.is_closed():
        coroutine.close()
        done(None, Error("disconnected", "the event loop of an async callback is closed"))
        return

    def told(task: Any) -> None:
        if task.cancelled():
            done(None, Error("canceled", "the server's task was cancelled"))
        else:
            error = task.exception()
            done(None if error else task.result(), error)

    asyncio.run_coroutine_threadsafe(coroutine, loop).add_done_callback(told)


def loop_for(callback: Callable[..., object]) -> asyncio.AbstractEventLoop | None:
    """The event loop for an `async def` callback: the loop that is running now."""
    if not inspect.iscoroutinefunction(callback):
        return None
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise TypeError(
            "an async callback needs a running event loop: create the service inside `async def`"
        ) from None


class Responder(Generic[Rep]):
    """Replies to one request, now or later, from any thread.

    The client gets an error at once if the last reference is dropped without a reply.
    """

    def __init__(self, core: _hyphos.Exchange, codec: Codec) -> None:
        self._core = core
        self._codec = codec

    def reply(self, value: Rep) -> None:
        """Sends the reply. Raises `hyphos.Error`: disconnected (the client no longer waits),
        overloaded, or already_exists (a reply was sent before)."""
        payload, buffers = self._codec.encode(value)
        self._core.reply(payload, buffers)

    def refuse(self, message: str, code: str = "unsupported", where: str = "") -> None:
        """Replies with an error, which the client's call raises."""
        self._core.refuse(code, message, where)

    def refuse_with(self, error: BaseException, where: str) -> None:
        """Replies with a `hyphos.Error` unchanged. Any other exception is also logged here."""
        if self._core.answered:
            return
        try:
            if isinstance(error, Error):
                self.refuse(error.message, error.code, error.where)
            else:
                report_callback_error(f"the callback of '{where}'", error)
                self.refuse(f"the server's callback raised {error!r}", "io", where)
        except Error:
            pass  # the client is gone, so the error has no receiver

    @property
    def canceled(self) -> bool:
        """True once the client has cancelled the call or is gone."""
        return self._core.canceled


class Served:
    """A service or an action of this process. The node owns it. Dropping the handle changes
    nothing."""

    def __init__(self, core: _hyphos.CallServer) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """The name of the service or action."""
        return self._core.name

    @property
    def pending(self) -> int:
        """The number of requests or goals that were accepted and have no reply yet."""
        return self._core.pending

    def close(self) -> None:
        """Closes the service or action. On return no callback is running.

        Requests without a reply fail at their clients. Goals are aborted.
        """
        self._core.close()


class Service(Served):
    """A service that this process serves."""


def serve(
    name: str, request: Codec, reply: Codec, callback: Callable[..., Any]
) -> Callable[[_hyphos.Exchange], None]:
    """Adapts the user's callback to the core.

    The callback is (request) → reply, or (request, responder). Either may be async.
    """
    loop = loop_for(callback)
    deferred = _takes_responder(callback)

    def answer(exchange: _hyphos.Exchange) -> None:
        responder: Responder[Any] = Responder(exchange, reply)

        def finish(value: Any, error: BaseException | None) -> None:
            if error is not None:
                responder.refuse_with(error, name)
                return
            try:
                responder.reply(value)
            except Error:
                pass  # the client is gone, has cancelled, or has its reply
            except Exception as problem:  # noqa: BLE001 - the value is of another type
                responder.refuse_with(problem, name)

        try:
            value = request.decode(*exchange.contents())
        except Exception as error:  # noqa: BLE001
            problem = Error("corrupt", f"the request cannot be read: {error}", name)
            responder.refuse_with(problem, name)
            return
        try:
            result = callback(value, responder) if deferred else callback(value)
        except Exception as error:  # noqa: BLE001
            finish(None, error)
            return
        if loop is not None:
            if deferred:

                def refuse(_: Any, error: BaseException | None) -> None:
                    if error is not None:
                        responder.refuse_with(error, name)

                spawn(result, loop, refuse)
            else:
                spawn(result, loop, finish)
        elif not deferred:
            finish(result, None)

    return answer


class Client(Generic[Req, Rep]):
    """Calls a service. Thread-safe. Any number of calls up to `max_pending` may be in flight."""

    def __init__(self, core: _hyphos.CallClient, request: Codec, reply: Codec) -> None:
        self._core = core
        self._request = request
        self._reply = reply

    def _decode(self, contents: Contents) -> Rep:
        try:
            value: Rep = self._reply.decode(*contents)
        except ValueError as error:
            raise Error("corrupt", f"the reply cannot be read: {error}", self.name) from error
        return value

    def _start(self, value: Req, timeout_ms: float) -> Callable[[Any], int]:
        payload, buffers = self._request.encode(value)
        time_ns = to_ns(timeout_ms)
        return lambda told: self._core.call_async(payload, buffers, time_ns, told)

    def call(self, value: Req, *, timeout_ms: float = CALL_TIMEOUT_MS) -> Rep:
        """Sends a request and waits for the reply, with the GIL released.

        May be called in a callback, except in mode "inline". Raises `hyphos.Error`. Its `code` is
        not_found (no server appeared in time), timeout, disconnected (the server is gone),
        overloaded, type_mismatch, or the code of the server's own error.
        """
        if in_main_thread():
            return self._decode(
                wait_interruptibly(self._start(value, timeout_ms), self._core.cancel)
            )
        payload, buffers = self._request.encode(value)
        return self._decode(self._core.call(payload, buffers, to_ns(timeout_ms)))

    def call_async(self, value: Req, *, timeout_ms: float = CALL_TIMEOUT_MS) -> Awaitable[Rep]:
        """Returns an awaitable reply: `await client.call_async(request)` in a coroutine.
        Cancelling it ends the call."""
        return as_future(self._start(value, timeout_ms), self._decode, self._core.cancel)

    def call_then(
        self,
        value: Req,
        callback: Callable[[Rep | None, Error | None], object],
        *,
        timeout_ms: float = CALL_TIMEOUT_MS,
    ) -> None:
        """Sends a request and returns at once. `callback(reply, error)` runs once on the thread
        pool. One of the two is None."""

        def told(contents: Contents | None, error: Error | None) -> None:
            if contents is None:
                callback(None, error)
                return
            try:
                reply = self._decode(contents)
            except Error as problem:
                callback(None, problem)
            else:
                callback(reply, None)

        self._start(value, timeout_ms)(told)

    @property
    def ready(self) -> bool:
        """True if a server is known now. Calls wait for a server until their timeout."""
        return self._core.ready

    def wait_for_server(self, *, timeout_ms: float = CALL_TIMEOUT_MS) -> None:
        """Waits for a server. Raises `hyphos.Error`: not_found or type_mismatch."""
        self._core.wait_for_server(to_ns(timeout_ms))

    @property
    def name(self) -> str:
        """The name of the service."""
        return self._core.name

    def close(self) -> None:
        """Ends the calls in flight with an error."""
        self._core.close()


def raw_client(
    node: Any, name: str, request: TypeId, reply: TypeId, known: TypeId
) -> Client[Any, Any]:
    """A client for types known by name only, with values `(payload, buffers)`. For tools.

    `known` is the id of the whole service, as its server announces it.
    """
    core = node._core.client(name, request, None, reply, known, False, 1)
    return Client(core, codec_for(Raw(request)), codec_for(Raw(reply)))


def _takes_responder(callback: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(callback).parameters.values()
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    needed = [
        p
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    return len(needed) == 2
