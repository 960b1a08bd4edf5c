from collections.abc import Callable

import pytest


@pytest.mark.parametrize("camera", ["02_image/image_camera", "02_image/camera.py"])
@pytest.mark.parametrize("viewer", ["02_image/image_brightness", "02_image/brightness.py"])
def test_a_picture_arrives_as_a_view(
    listen: Callable[..., list[str]], camera: str, viewer: str
) -> None:
    assert listen(viewer, camera) == ["640×480, mean 42.0, a read-only view"]
