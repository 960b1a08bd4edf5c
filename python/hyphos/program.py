"""The entry point of the program `hyphos`."""

from hyphos.tools.waiting import ctrl_c_kills


def main() -> None:
    with ctrl_c_kills():
        from hyphos.cli.main import main as command_line  # noqa: PLC0415
    command_line()
