from collections.abc import Callable

import pytest


@pytest.mark.parametrize(
    "follower", ["05_user_type/user_type_follower", "05_user_type/follower.py"]
)
def test_a_type_with_its_own_encoding_arrives(
    listen: Callable[..., list[str]], follower: str
) -> None:
    heard = listen(follower, "05_user_type/user_type_router")
    assert heard == ["3 points, the last at 2.5 m"]
