from collections.abc import Callable

import pytest


@pytest.mark.parametrize("odometer", ["01_struct/struct_odometer", "01_struct/odometer.py"])
def test_a_struct_arrives_in_cpp_and_python(
    listen: Callable[..., list[str]], odometer: str
) -> None:
    assert listen(odometer, "01_struct/struct_encoder") == ["wheel 3 turns at 0.5 m/s"]
