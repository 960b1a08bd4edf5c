"""The places at which the channels of a process are open, as functions of the runtime."""

from __future__ import annotations

from hyphos import _hyphos
from hyphos._errors import Error


class ChannelPlaces:
    """Functions of `hyphos.Runtime` that open and close channels of its process."""

    _core: _hyphos.Runtime

    def set_channel_open(
        self, channel: str, open: bool, *, where: str = "both", peer: str | None = None
    ) -> None:
        """Opens or closes a channel of this process.

        `where` is "inside" (between endpoints of this process), "outside" (between this process and
        others) or "both". The other place stays as it is. With `peer`, the name of a process or an
        endpoint, it opens or closes the channel towards that peer only. A message that does not
        pass is counted as `drop.closed`. Thread-safe.
        """
        if peer is not None and where != "both":
            raise Error(
                "invalid_config",
                f"a peer is always outside, so where={where!r} has no effect with peer={peer!r}",
                channel,
                "give one of them",
            )
        self._core.set_channel_open(channel, open, where, peer)

    def open_channel_only(self, channel: str, where: str) -> None:
        """Opens a channel of this process at one place only.

        `where` is "inside", "outside", "both" or "nowhere". One step: each message passes at the
        places before the call, or at those after it. This moves the subscribers of a channel to
        another process and back, without a message lost or doubled. Thread-safe.
        """
        self._core.open_channel_only(channel, where)

    def channel_open(self, channel: str) -> str:
        """The places at which the channel is open now: "inside", "outside", "both" or "nowhere"."""
        return self._core.channel_open(channel)
