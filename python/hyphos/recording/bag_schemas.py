"""hyphos bag convert --to foxglove: another family of schemas for the messages of a recording."""

from __future__ import annotations

from pathlib import Path

from hyphos.recording.bag import Copier, WriteOptions, progress_bar, writing
from hyphos.recording.bag_report import Report
from hyphos.recording.mcap_file import PROFILE, McapRecording, McapSource, stored, track_of
from hyphos.recording.mcap_records import Channel, Message
from hyphos.recording.mcap_scan import Scan
from hyphos.recording.opening import open_source
from hyphos.recording.schemas import NOT_CONVERTIBLE, ChannelSpec, Conversion, Conversions
from hyphos.recording.source import Track


def convert_schemas(path: Path, options: WriteOptions, conversions: Conversions) -> int:
    """Writes a recording with other schemas. Types without a conversion keep their own. Returns 0,
    or LEFT_OUT if it omitted anything. Lists and counts each omission."""
    source = open_source(path)
    try:
        if isinstance(source, McapSource):
            return _convert(source, options, conversions)
        # Only recordings of ROS need rosbags.
        from hyphos.recording.bag_convert import to_hyphos  # noqa: PLC0415
        from hyphos.recording.ros_bag import RosSource  # noqa: PLC0415

        assert isinstance(source, RosSource)
        return to_hyphos(source, path, options, conversions)
    finally:
        source.close()


class _SchemaCopier(Copier):
    """Copies a recording. Messages of types with a conversion get its schema."""

    def __init__(self, to: McapRecording, conversions: Conversions, report: Report) -> None:
        super().__init__(to)
        self._conversions = conversions
        self._report = report
        self._tracks: dict[int, tuple[Track, Conversion | None]] = {}

    def _track(self, scan: Scan, number: int) -> tuple[Track, Conversion | None]:
        if number not in self._tracks:
            channel = scan.channels[number]
            track, _ = track_of(channel, scan.schemas.get(channel.schema_id), 0)
            known = None if track.problem else self._conversions(track.type_name, track.encoding)
            self._tracks[number] = track, known
        return self._tracks[number]

    def _spec(self, scan: Scan, channel: Channel) -> ChannelSpec:
        track, known = self._track(scan, channel.id)
        return known.spec(track.channel, track.policy) if known else super()._spec(scan, channel)

    def write(self, scan: Scan, message: Message, log_ns: int | None = None) -> None:
        if message.channel in scan.channels:
            track, known = self._track(scan, message.channel)
            if known is not None:
                try:
                    payload, buffers = stored(track.encoding, message.data)
                    data = known.convert(payload, buffers, message.publish_ns)
                except NOT_CONVERTIBLE as error:
                    self._report.skipped.add(track, str(error))
                    return
                message = message._replace(data=data)
        super().write(scan, message, log_ns)
        self._report.written += 1


def _convert(source: McapSource, options: WriteOptions, conversions: Conversions) -> int:
    report = Report()
    scan = source.scan
    report.notes = list(source.warnings)
    with (
        progress_bar("converting", source.path.stat().st_size) as progress,
        writing(options, PROFILE, [source.path]) as to,
    ):
        copier = _SchemaCopier(to, conversions, report)
        copier.add_all(scan)
        for message in scan.ordered(progress=progress):
            copier.write(scan, message)
        if report.skipped:
            report.notes.append("not kept: the counters of the recording")
        copier.copy_rest(scan, summary=not report.skipped)
    return report.print(options.output, source)
