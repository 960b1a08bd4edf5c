"""Maps a building with a laser scanner while it drives a tour, and shares the map with the other
robots over a link that loses packets.

Each robot broadcasts its new tiles. Now and then it also broadcasts the versions of all tiles that
it has, and a robot with newer ones sends them again: also the tiles of a third robot, so that a map
travels on between robots that never meet.
"""

# mypy: disable-error-code="import-not-found,misc"
from __future__ import annotations

import json
import math
from collections import deque
from pathlib import Path

import grid as maps
import hyphos
import numpy as np
import yaml
from hyphos.msgs import LaserScan, OccupancyGrid, Odometry, String, Twist

LOW, SIZE = (-2.0, -2.0), (11, 8)  # of the map, in metres and tiles
FAST, TURN = 1.2, 1.2
TILES_PER_S = 8
MOST_M, MOST_BEAMS = 100.0, 10_000


class Mapper:
    def __init__(self, node: hyphos.Node) -> None:
        self.name = node.param("name", "robot")
        numbers = [float(v) for v in str(node.param("tour", "0 0")).split()]
        self.tour = list(zip(numbers[::2], numbers[1::2], strict=True))
        self.world = str(node.param("world", ""))
        self.output = str(node.param("output", ""))
        self.next = 0
        self.pose: tuple[float, float, float] | None = None
        self.ahead = math.inf
        self.map = maps.Grid(self.name, LOW, SIZE)
        self.queue: deque[tuple[str, int]] = deque()
        self.counts = {"scans": 0, "tiles sent": 0, "tiles received": 0, "of them new": 0}
        self.refusals = hyphos.Refusals(node)
        self.command = node.publisher("cmd_vel", Twist)
        self.tiles = node.publisher("map/tile", OccupancyGrid)
        self.have = node.publisher("map/have", String)
        node.subscribe("team/tile", OccupancyGrid, self.on_tile)
        node.subscribe("team/have", String, self.on_have)
        node.subscribe("scan", LaserScan, self.on_scan)
        node.subscribe("odom", Odometry, self.on_odometry)
        node.every(self.publish_new, period_ms=1000)
        node.every(self.publish_have, period_ms=3000)
        node.every(self.send_one, period_ms=1000 // TILES_PER_S)

    # --- driving ---

    def on_odometry(self, odometry: Odometry) -> None:
        here, q = odometry.pose.pose.position, odometry.pose.pose.orientation
        if self.refusals.refuse("odom", unusable(here.x, here.y, q.z, q.w)):
            return
        x, y, yaw = self.pose = (here.x, here.y, 2 * math.atan2(q.z, q.w))
        goal = self.tour[self.next]
        if math.hypot(goal[0] - x, goal[1] - y) < 0.4:
            self.next = (self.next + 1) % len(self.tour)
            goal = self.tour[self.next]
        off = math.remainder(math.atan2(goal[1] - y, goal[0] - x) - yaw, 2 * math.pi)
        twist = Twist()
        twist.linear.x = FAST * max(0.0, math.cos(off)) ** 2 if self.ahead > 0.5 else 0.0
        twist.angular.z = min(max(2.5 * off, -TURN), TURN)
        self.command.publish(twist)

    def on_scan(self, scan: LaserScan) -> None:
        if self.refusals.refuse("scan", unusable_scan(scan)) or self.pose is None:
            return
        ranges = np.array(scan.ranges)
        angles = scan.angle_min + scan.angle_increment * np.arange(len(ranges))
        ranges[~(ranges >= scan.range_min)] = np.inf
        self.ahead = float(ranges[np.abs(angles) < 0.3].min(initial=math.inf))
        self.map.see(*self.pose, angles, ranges, scan.range_max)
        self.counts["scans"] += 1

    # --- sharing ---

    def publish_new(self) -> None:
        """Queues the tiles of this robot that have changed."""
        changed = np.nonzero(self.map.changed)[0]
        self.map.close_versions()
        self.ask_for(self.name, changed.tolist())

    def ask_for(self, robot: str, tiles: list[int]) -> None:
        waiting = set(self.queue)
        self.queue.extend((robot, t) for t in tiles if (robot, t) not in waiting)

    def publish_have(self) -> None:
        told = {robot: versions.tolist() for robot, versions in self.map.versions.items()}
        self.have.publish(String(data=json.dumps(told, separators=(",", ":"))))

    def on_have(self, text: String) -> None:
        try:
            told = json.loads(text.data)
            for robot, mine in self.map.versions.items():
                theirs = np.array(told.get(robot, [0] * len(mine)), dtype=np.int64)
                self.ask_for(robot, np.nonzero(mine > theirs)[0].tolist())
        except (ValueError, AttributeError, TypeError, OverflowError):
            self.refusals.refuse("team/have", "it is no table of versions")

    def send_one(self) -> None:
        if not self.queue:
            return
        robot, number = self.queue.popleft()
        tile = OccupancyGrid(data=self.map.tile(robot, number))
        tile.header.frame_id = f"{robot}/{number}"
        tile.header.stamp_ns = int(self.map.versions[robot][number])
        tile.info.resolution, tile.info.width, tile.info.height = maps.CELL_M, maps.TILE, maps.TILE
        self.tiles.publish(tile)
        self.counts["tiles sent"] += 1

    def on_tile(self, tile: OccupancyGrid) -> None:
        robot, _, number = tile.header.frame_id.rpartition("/")
        if self.refusals.refuse("team/tile", "" if robot and number.isdigit() else "no tile"):
            return
        self.counts["tiles received"] += 1
        new = self.map.take(robot, int(number), tile.header.stamp_ns, tile.data)
        self.counts["of them new"] += new

    # --- the result ---

    def close(self) -> None:
        counts = ", ".join(f"{count} {what}" for what, count in self.counts.items())
        print(f"{self.name}: {counts}")
        if self.world and self.pose is not None:
            boxes = yaml.safe_load(Path(__file__).with_name(self.world).read_text())["world"][
                "boxes"
            ]
            full, building = maps.truth(boxes, self.map, 0.3)
            for what, evidence in (
                ("alone", self.map.of(self.name)),
                ("merged", self.map.merged()),
            ):
                known, wrong, far = maps.score(evidence, full, building)
                print(
                    f"{self.name}: {what}: {known:.1%} known, {wrong:.2%} of it wrong, "
                    f"{far:.2%} by more than a cell"
                )
        if self.output:
            self.write(Path(self.output))

    def write(self, folder: Path) -> None:
        """Writes the merged map as a picture: black walls, white floor, grey unknown."""
        folder.mkdir(parents=True, exist_ok=True)
        evidence = self.map.merged()
        shades = np.full(evidence.shape, 128, np.uint8)
        shades[evidence >= maps.SURE], shades[evidence <= -maps.SURE] = 0, 255
        head = f"P5 {shades.shape[1]} {shades.shape[0]} 255\n".encode()
        (folder / f"{self.name}.pgm").write_bytes(head + shades[::-1].tobytes())


def unusable(*values: float) -> str:
    return "" if all(map(math.isfinite, values)) else "a number is not finite"


def unusable_scan(scan: LaserScan) -> str:
    if not 0 < scan.range_max <= MOST_M or len(scan.ranges) > MOST_BEAMS:
        return "its range or its number of beams is not that of a scanner"
    return unusable(scan.angle_min, scan.angle_increment)
