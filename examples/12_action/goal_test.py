from collections.abc import Callable


def test_goals_succeed_are_rejected_and_are_canceled(listen: Callable[..., list[str]]) -> None:
    assert listen("12_action/captain.py", "12_action/action_driver", lines=5) == [
        "at 1 m",
        "at 2 m",
        "succeeded 2 m",
        "drive_to: cannot drive backwards",
        "canceled",
    ]
