"""Converted names of channels and topics: valid in the target, unique, and listed if different."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from hyphos.recording.source import Track, channel_of

_ROS2_TOPIC = re.compile(r"(?:/[A-Za-z_][A-Za-z0-9_]*)+")


def unique_names(names: Iterable[str], map_one: Callable[[str], str]) -> dict[str, str]:
    """Maps each name to a unique counterpart. If several have the same one, the name that equals it
    keeps it, else the first name. The others get _2, _3, …"""
    wanted = sorted(set(names), key=lambda name: (map_one(name) != name.strip("/"), name))
    kept = {map_one(name) for name in wanted}
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in wanted:
        base = free = map_one(name)
        number = 1
        while free in taken or (number > 1 and free in kept):
            number += 1
            free = f"{base}_{number}"
        taken.add(free)
        found[name] = free
    return found


def separate_names(tracks: Sequence[Track]) -> None:
    """Gives separate channels to topics of a foreign recording with equal converted names."""
    foreign = [track for track in tracks if track.origin]
    names = unique_names((topic_of(track) for track in foreign), channel_of)
    for track in foreign:
        track.channel = names[topic_of(track)]


def topic_of(track: Track) -> str:
    """The name of a channel in a foreign recording."""
    return track.topic or track.origin


def renamed_channels(tracks: Sequence[Track]) -> list[str]:
    """A line for each topic whose channel name is not the topic without the leading slash."""
    return sorted(
        {
            f"renamed: {topic_of(track)} is the channel {track.channel}"
            for track in tracks
            if track.origin and not track.problem and topic_of(track).lstrip("/") != track.channel
        }
    )


def ros_topics(channels: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The topic of each channel, and a line for each that is not the name with a slash."""
    topics = {name: f"/{topic}" for name, topic in unique_names(channels, channel_of).items()}
    lines = [
        f"renamed: {name} is the topic {topic}"
        for name, topic in topics.items()
        if topic.lstrip("/") != name.lstrip("/")
    ]
    return topics, sorted(lines)


def ros2_topics(topics: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Maps topics of ROS 1 to valid topics of ROS 2."""
    every = set(topics)
    odd = {topic for topic in every if not _ROS2_TOPIC.fullmatch(topic)}
    if not odd:
        return {topic: topic for topic in every}, []
    found = {topic: f"/{name}" for topic, name in unique_names(every, channel_of).items()}
    return found, sorted(f"renamed: {topic} is {found[topic]} in ROS 2" for topic in odd)
