from collections.abc import Callable

import pytest

HERE = "03_loan_and_forward"


@pytest.mark.parametrize("relay", ["forward_relay", "relay.py"])
def test_a_loaned_message_passes_through_a_relay(
    listen: Callable[..., list[str]], relay: str
) -> None:
    heard = listen(f"{HERE}/sink.py", f"{HERE}/{relay}", f"{HERE}/source.py")
    assert heard == ["1000000 bytes, sum 7000000"]
