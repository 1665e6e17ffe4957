"""Joint states in ROS 2 bags (sqlite3 and MCAP): positions, velocities, efforts by joint name."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import FileError, MissingExtra, unknown_name
from armdyn.files import require_numbers
from armdyn.identification.log.columns import Raw

MCAP_MAGIC = b"\x89MCAP0\r\n"
MCAP_CHUNK = 6
"""Kind of a record that holds packed messages."""
JOINT_STATE = "sensor_msgs/msg/JointState"
SUFFIXES = (".mcap", ".db3")
FIELDS = {"q": "position", "qd": "velocity", "tau": "effort"}


def read(
    path: Path, joints: Sequence[str], topic: str | None, renamed: Callable[[str], str] = lambda name: name
) -> Raw:
    """{t: int64 ns, q, qd, tau: (N, n)} of the messages that have all joints, in the order of `joints`.

    Names may come in any order, and in another one in every message. Messages of other joints are skipped. Time is
    that of the message's header; where that is not set, the time of recording.
    """
    try:
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise MissingExtra(
            "rosbags is not installed",
            where=str(path),
            expected="rosbags to read ROS 2 bags",
            advice="pip install 'armdyn[ros]'",
        ) from None
    try:
        _check_chunks(path)
        with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
            connections = _connections(reader, topic, str(path))
            rows = [
                row
                for row in (
                    _row(reader.deserialize(data, connection.msgtype), stamp, joints, renamed)
                    for connection, stamp, data in reader.messages(connections)
                )
                if row
            ]
            seen = None if rows else _first_names(reader, connections)
    except AnyReaderError as error:
        raise FileError(f"cannot be read: {error}", where=str(path), expected="a ROS 2 bag") from None
    if not rows:
        raise FileError(
            "no message has all joints",
            where=str(path),
            expected=", ".join(joints),
            advice=f"Joints in the bag: {', '.join(seen or ['none'])}. If only names differ, rename them: "
            "rename = {fer_ = 'panda_'} in [log] of a logger's file (--logger).",
        )
    out: Raw = {"t": np.array([row["t"] for row in rows], dtype=np.int64)}
    for name in FIELDS:
        if any(name in row for row in rows):
            blank = [np.nan] * len(joints)
            out[name] = np.array([row.get(name, blank) for row in rows], dtype=float)
    return out


def _check_chunks(path: Path) -> None:
    """Raise FileError if the chunks of MCAP files say that they unpack to too much."""
    for file in sorted(path.glob("*.mcap")) if path.is_dir() else [path] * (path.suffix == ".mcap"):
        size, unpacked = file.stat().st_size, 0
        with file.open("rb") as stream:
            place = len(MCAP_MAGIC)
            while place + 9 <= size:
                stream.seek(place)
                kind, length = struct.unpack("<BQ", stream.read(9))
                if kind == MCAP_CHUNK:
                    stream.seek(16, 1)
                    unpacked += int.from_bytes(stream.read(8), "little")
                    require_numbers(file, unpacked // 8)
                place += 9 + length


def _connections(reader: Any, topic: str | None, where: str) -> list[Any]:
    states = [connection for connection in reader.connections if connection.msgtype == JOINT_STATE]
    topics = sorted({connection.topic for connection in states})
    if topic is not None:
        states = [connection for connection in states if connection.topic == topic]
        if not states:
            raise unknown_name("topic", topic, topics, where=where)
    if not states:
        raise FileError("no joint states", where=where, expected=f"a topic of {JOINT_STATE}")
    if topic is None and len(topics) > 1:
        raise FileError(
            "several topics of joint states",
            where=where,
            expected="one",
            advice=f"Choose one by `topic`: {', '.join(topics)}.",
        )
    return states


def _row(message: Any, recorded: int, joints: Sequence[str], renamed: Callable[[str], str]) -> dict[str, Any] | None:
    """One message in the order of the joints; None if it lacks one."""
    place = {renamed(name): k for k, name in enumerate(message.name)}
    if any(joint not in place for joint in joints):
        return None
    order = [place[joint] for joint in joints]
    stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
    row: dict[str, Any] = {"t": stamp or recorded}
    for name, field in FIELDS.items():
        values = getattr(message, field)
        if len(values) == len(message.name):
            row[name] = values[order]
    return row


def _first_names(reader: Any, connections: list[Any]) -> list[str]:
    for connection, _, data in reader.messages(connections):
        return list(reader.deserialize(data, connection.msgtype).name)
    return []
