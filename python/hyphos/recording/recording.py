"""Recording from a program: the functions of `hyphos record` without its display."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from hyphos._closing import Closing
from hyphos._errors import Error
from hyphos._hyphos import RecorderStatus
from hyphos.recording.recorder import LOOK_EVERY_S, Recorder, RecordOptions, closed
from hyphos.tools.join import open_tool

_PATIENCE_S = 2.0  # for the parameters of nodes that do not reply


class Recording(Closing):
    """Records channels to an MCAP file from construction to close(). Thread-safe.

        with hyphos.Recording("run.mcap", ["scan", "camera/*"]) as recording:
            ...

    The recorder joins the robot like a separate process (node `recorder`). So it also records the
    messages of this program. Channels that appear later are added: a thread looks for them four
    times per second. The recorder never blocks a publisher, and counts lost messages in the file.
    Sizes are in KB (`chunk_kb`: 1024 bytes) and MB, `split_s` in seconds. Raises `hyphos.Error` if
    the file cannot be created, or exists and `overwrite` is not set.
    """

    def __init__(
        self,
        path: str | Path,
        channels: Sequence[str] = ("*",),
        *,
        exclude: Sequence[str] = (),
        domain: str = "0",
        compression: str = "zstd",
        chunk_kb: int = 4096,
        queue_mb: int = 256,
        split_mb: int = 0,
        split_s: float = 0.0,
        keep_files: int = 0,
        plan: str | Path | None = None,
        descriptors: Sequence[str | Path] = (),
        overwrite: bool = False,
        sync: bool = False,
    ) -> None:
        options = RecordOptions(
            patterns=tuple(channels),
            exclude=tuple(exclude),
            output=Path(path),
            seconds=None,
            chunk_bytes=chunk_kb << 10,
            compression=compression,
            queue_bytes=queue_mb << 20,
            overwrite=overwrite,
            quiet=True,
            domain=domain,
            proto_path=(),
            descriptors=[Path(file) for file in descriptors],
            plan=Path(plan) if plan is not None else None,
            split_bytes=split_mb * 1_000_000,
            split_s=split_s,
            keep_files=keep_files,
            sync=sync,
        )
        node = open_tool("recorder", domain)
        try:
            self._recorder = Recorder(node, options, Path(path))
        except BaseException:
            node.close()
            raise
        self._end = threading.Event()
        self._closing = threading.Lock()
        self._failure: Error | None = None
        self._threads = [
            threading.Thread(target=work, name="recording", daemon=True)
            for work in (self._look, self._recorder.read_parameters)
        ]
        for thread in self._threads:
            thread.start()

    def _look(self) -> None:
        try:
            while self._recorder.status().failure is None:
                self._recorder.discover()
                if self._end.wait(LOOK_EVERY_S):
                    return
        except Error as error:  # raised by close()
            self._failure = error

    @property
    def channels(self) -> set[str]:
        """The channels that are recorded by now."""
        return set(self._recorder.channels)

    def status(self) -> RecorderStatus:
        """Current counters of each channel, size, files, and the failure if any."""
        return self._recorder.status()

    def close(self) -> None:
        """Writes queued messages, the counters and the index. Blocks. Idempotent.

        Raises `hyphos.Error` if the disk was full or failed. All complete chunks are then still
        readable.
        """
        with self._closing:
            if self._end.is_set():
                return
            self._end.set()
        for thread in self._threads:
            thread.join(_PATIENCE_S)
        failure = closed(self._recorder) or self._failure
        if failure is not None:
            raise failure
