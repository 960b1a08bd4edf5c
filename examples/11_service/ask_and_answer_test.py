from collections.abc import Callable

Listen = Callable[..., list[str]]


def test_a_service_replies_and_refuses(listen: Listen) -> None:
    assert listen("11_service/service_asker", "11_service/service_adder", lines=3) == [
        "2 + 3 = 5",
        "add: the total needs more than 64 bits [unsupported]",
        "not_found",
    ]


def test_calls_from_python_are_awaited(listen: Listen) -> None:
    assert listen("11_service/asker.py", "11_service/service_adder", lines=3) == [
        "= 5",
        "= 50",
        "add: the total needs more than 64 bits",
    ]
