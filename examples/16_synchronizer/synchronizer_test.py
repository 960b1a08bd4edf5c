from collections.abc import Callable

import pytest

FOLDER = "16_synchronizer"


@pytest.mark.parametrize("fusion", ["synchronizer_fusion", "fusion.py"])
@pytest.mark.parametrize("sensors", ["synchronizer_sensors", "sensors.py"])
def test_a_lost_scan_costs_one_set(
    listen: Callable[..., list[str]], fusion: str, sensors: str
) -> None:
    heard = listen(f"{FOLDER}/{fusion}", f"{FOLDER}/{sensors}", lines=4)
    assert heard == [f"image {number} with a scan 20 ms later" for number in (1, 2, 4, 5)]
