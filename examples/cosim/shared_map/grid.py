"""An occupancy grid of evidence, in tiles. The evidence of each robot is kept apart, with a version
for each tile. So a tile may arrive late, twice, or by way of a third robot, and the sum over all
robots is the same (a replicated data type without conflicts)."""

from __future__ import annotations

import math

import numpy as np

CELL_M = 0.25
TILE = 16  # cells
MOST = 30  # evidence of one robot for one cell
HIT, FREE = 4, -1
SURE = 3  # evidence from which a cell is known


class Grid:
    def __init__(self, own: str, low: tuple[float, float], size: tuple[int, int]) -> None:
        """`low` is the corner in metres, `size` the number of tiles along x and y."""
        self.own, self.low, self.size = own, low, size
        self.evidence: dict[str, np.ndarray] = {}
        self.versions: dict[str, np.ndarray] = {}
        self.changed = np.zeros(size[0] * size[1], dtype=bool)
        self.of(own)

    def of(self, robot: str) -> np.ndarray:
        if robot not in self.evidence:
            self.evidence[robot] = np.zeros((self.size[1] * TILE, self.size[0] * TILE), np.int8)
            self.versions[robot] = np.zeros(self.size[0] * self.size[1], dtype=np.int64)
        return self.evidence[robot]

    def see(self, x: float, y: float, yaw: float, angles: np.ndarray, ranges: np.ndarray,
            most: float) -> None:  # fmt: skip
        """Adds the evidence of one scan."""
        hits = np.isfinite(ranges)
        reach = np.where(hits, ranges, most)
        steps = np.arange(0.0, most, CELL_M / 2)
        along = np.minimum(steps[None, :], np.maximum(reach[:, None] - CELL_M, 0.0))
        turned = angles + yaw
        free = self._cells(x + along * np.cos(turned)[:, None], y + along * np.sin(turned)[:, None])
        ends = reach[hits] + CELL_M / 4  # inside the wall
        hit = self._cells(x + ends * np.cos(turned[hits]), y + ends * np.sin(turned[hits]))
        free = np.setdiff1d(np.unique(free), hit)
        flat = self.of(self.own).reshape(-1)
        before = flat.copy()
        flat[free] = np.maximum(flat[free].astype(int) + FREE, -MOST)
        hit = np.unique(hit)
        flat[hit] = np.minimum(flat[hit].astype(int) + HIT, MOST)
        self._note(np.nonzero(flat != before)[0])

    def _cells(self, xs: np.ndarray, ys: np.ndarray) -> np.ndarray:
        """The numbers of the cells with these points, without points beyond the grid."""
        columns = np.floor((xs - self.low[0]) / CELL_M).astype(int)
        rows = np.floor((ys - self.low[1]) / CELL_M).astype(int)
        height, width = self.of(self.own).shape
        inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
        found: np.ndarray = (rows * width + columns)[inside]
        return found

    def _note(self, cells: np.ndarray) -> None:
        width = self.size[0] * TILE
        self.changed[np.unique(cells // width // TILE * self.size[0] + cells % width // TILE)] = (
            True
        )

    def close_versions(self) -> None:
        """Gives a new version to each tile of this robot that has changed."""
        self.versions[self.own][self.changed] += 1
        self.changed[:] = False

    def _part(self, tile: int) -> tuple[slice, slice]:
        row, column = divmod(tile, self.size[0])
        return slice(row * TILE, (row + 1) * TILE), slice(column * TILE, (column + 1) * TILE)

    def tile(self, robot: str, tile: int) -> bytes:
        return self.of(robot)[self._part(tile)].tobytes()

    def take(self, robot: str, tile: int, version: int, data: bytes) -> bool:
        """Returns True if the tile is new here."""
        if len(data) != TILE * TILE or not 0 <= tile < len(self.versions[self.own]):
            return False
        self.of(robot)
        if robot == self.own or version <= self.versions[robot][tile]:
            return False
        self.evidence[robot][self._part(tile)] = np.frombuffer(data, np.int8).reshape(TILE, TILE)
        self.versions[robot][tile] = version
        return True

    def merged(self) -> np.ndarray:
        total: np.ndarray = np.sum([one.astype(np.int16) for one in self.evidence.values()], axis=0)
        return total


def truth(
    boxes: list[dict[str, list[float]]], grid: Grid, height: float
) -> tuple[np.ndarray, np.ndarray]:
    """Two tables of cells: those that a box occupies at this height, and those of the building,
    which all boxes together enclose."""
    rows, columns = grid.of(grid.own).shape
    xs = grid.low[0] + (np.arange(columns) + 0.5) * CELL_M
    ys = grid.low[1] + (np.arange(rows) + 0.5) * CELL_M

    def within(low: list[float], high: list[float]) -> np.ndarray:
        return ((ys >= low[1]) & (ys <= high[1]))[:, None] & ((xs >= low[0]) & (xs <= high[0]))

    full = np.zeros((rows, columns), dtype=bool)
    for box in boxes:
        if box["low"][2] <= height <= box["high"][2]:
            full |= within(box["low"], box["high"])
    corners = [[pick(box[end][i] for box in boxes) for i in range(2)]
               for pick, end in ((min, "low"), (max, "high"))]  # fmt: skip
    return full, within(*corners)


def near(cells: np.ndarray) -> np.ndarray:
    """The cells, and their eight neighbours."""
    grown = np.pad(cells, 1)
    shape = cells.shape
    found: np.ndarray = np.logical_or.reduce(
        [grown[i : i + shape[0], j : j + shape[1]] for i in range(3) for j in range(3)]
    )
    return found


def score(
    evidence: np.ndarray, full: np.ndarray, building: np.ndarray
) -> tuple[float, float, float]:
    """The share of the floor and of its walls that is known, the share of the known cells that is
    wrong, and the share that is wrong by more than one cell."""
    known_full, known_free = evidence >= SURE, evidence <= -SURE
    known = known_full | known_free
    if not known.any():
        return 0.0, math.nan, math.nan
    visible = building & (~full | near(~full & building))
    wrong = (known_full & ~full) | (known_free & full)
    far = (known_full & ~near(full)) | (known_free & ~near(~full))
    share = float((known & visible).sum() / visible.sum())
    return share, float(wrong.sum() / known.sum()), float(far.sum() / known.sum())
