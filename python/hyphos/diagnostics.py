"""Reports of a node about its components, for `hyphos diagnostics`."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hyphos.msgs import DiagnosticArray, DiagnosticStatus, Header, KeyValue
from hyphos.node import Node

Value = str | int | float | bool


class DiagnosticReport:
    """The state of one component at the present. A check of `Diagnostics` fills it in:
    `report.warn("9.1 Hz instead of 10 Hz", rate_hz=9.1)`.

    The worst level counts. Messages of that level are joined, and messages of better levels are
    left out. `hyphos diagnostics` shows the values as key=value.
    """

    def __init__(self, name: str) -> None:
        self._status = DiagnosticStatus(name=name)
        self._empty = True

    def ok(self, message: str, **values: Value) -> None:
        self._set(DiagnosticStatus.OK, message, values)

    def warn(self, message: str, **values: Value) -> None:
        self._set(DiagnosticStatus.WARN, message, values)

    def error(self, message: str, **values: Value) -> None:
        self._set(DiagnosticStatus.ERROR, message, values)

    def stale(self, message: str, **values: Value) -> None:
        """No news for longer than expected, e.g. from a device."""
        self._set(DiagnosticStatus.STALE, message, values)

    def value(self, key: str, value: Value) -> None:
        """Adds a text, a number or a bool. For keys that are no Python names."""
        text = f"{value:g}" if isinstance(value, float) else str(value)
        if isinstance(value, bool):
            text = text.lower()
        self._status.values.append(KeyValue(key=key, value=text))

    def _set(self, level: DiagnosticStatus.Level, message: str, values: dict[str, Value]) -> None:
        status = self._status
        if self._empty or level > status.level:
            status.level, status.message = level, message
        elif level == status.level:
            status.message += f"; {message}"
        self._empty = False
        for key, value in values.items():
            self.value(key, value)

    def _taken(self, hardware_id: str) -> DiagnosticStatus:
        """The report as a message. Without a level, it is an error."""
        if self._empty:
            self.error("the check reported no level")
        self._status.hardware_id = hardware_id
        return self._status


Check = Callable[[DiagnosticReport], object]


class Diagnostics:
    """Publishes the state of a node's components every second, as diagnostic_updater of ROS does.
    `hyphos diagnostics` shows them. Each check fills in one report, named `NODE: NAME`:

        diagnostics = hyphos.Diagnostics(node)

        def motor(report):
            if celsius < 80:
                report.ok("runs", celsius=celsius)
            else:
                report.warn("hot", celsius=celsius)

        diagnostics.add("motor", motor)

    Thread-safe. The checks run one at a time in the order of add(), on the thread pool. An
    exception of a check makes its report an error. All reports are then published, and the log has
    the exception. `hardware_id`: serial number or similar, for all checks.
    """

    def __init__(
        self,
        node: Node,
        *,
        period_ms: float = 1000,
        hardware_id: str = "",
        channel: str = "diagnostics",
    ) -> None:
        self._prefix = f"{node.name}: "
        self._hardware_id = hardware_id
        self._clock = node.clock
        self._checks: dict[str, Check] = {}
        self._running = threading.Lock()
        self._publisher = node.publisher(channel, DiagnosticArray)
        self._timer = node.every(self.publish, period_ms=period_ms)

    def add(self, name: str, check: Check) -> None:
        """Adds a check. A check of this name is replaced."""
        self._checks[name] = check

    def remove(self, name: str) -> None:
        """Removes a check, if there is one of this name. It may run for a last time."""
        self._checks.pop(name, None)

    def publish(self) -> None:
        """Runs the checks and publishes now, after an important change. Raises the last exception
        of a check. No effect while the checks run in another thread, or if a check calls it."""
        if not self._running.acquire(blocking=False):
            return
        try:
            self._publish()
        finally:
            self._running.release()

    def close(self) -> None:
        """Ends the periodic reports. On return no check runs, unless a check calls it."""
        self._timer.close()

    def _publish(self) -> None:
        reports = DiagnosticArray(header=Header(stamp_ns=self._clock.now_ns()))
        failure: Exception | None = None
        for name, check in list(self._checks.items()):
            report = DiagnosticReport(self._prefix + name)
            try:
                check(report)
            except Exception as problem:  # noqa: BLE001 - any code of the user
                report.error(f"{type(problem).__name__}: {problem}")
                failure = problem
            reports.status.append(report._taken(self._hardware_id))
        if reports.status:
            self._publisher.publish(reports)
        if failure is not None:
            raise failure
