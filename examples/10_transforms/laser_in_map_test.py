from collections.abc import Callable

import pytest

WATCHERS = {
    "10_transforms/transforms_watcher": "the laser is 2.30 m from the origin, 0.2 m high",
    "10_transforms/watcher.py": "seen 2.30 m and 3.30 m from the origin",
}


@pytest.mark.parametrize("robot", ["10_transforms/transforms_robot", "10_transforms/robot.py"])
@pytest.mark.parametrize("watcher", WATCHERS)
def test_the_laser_is_where_two_transforms_place_it(
    listen: Callable[..., list[str]], robot: str, watcher: str
) -> None:
    wanted = [WATCHERS[watcher]] * 2
    heard: list[str] = []
    # Transforms are interpolated along a straight line between two stamps. A robot program that
    # does not run for a third of a second therefore cuts its circle by a centimetre.
    for _ in range(5):
        heard = listen(watcher, robot, lines=2)
        if heard == wanted:
            break
    assert heard == wanted
