"""Entry point of the program `hyphos`."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer

from hyphos.cli.plain import PlainGroup
from hyphos.cli.renamed import Renamed
from hyphos.cli.values import Checked

# In the order of the command list. Each is a function of the same name in the module of that name.
_COMMANDS = (
    "new", "demo", "run", "validate", "agent", "doctor", "keys", "log", "diagnostics", "top",
    "graph", "metrics", "view", "foxglove", "gateway", "record", "replay", "teleop",
)  # fmt: skip
# Each is the `app` in the module of that name.
_GROUPS = (
    "plan", "channel", "node", "group", "service", "action", "param", "tf", "shm", "time", "bag",
    "msg", "lab", "cosim",
)  # fmt: skip
# Commands that can be a program of a plan: `hyphos run` passes them more arguments.
_PROGRAMS = {"gateway": {"allow_extra_args": True, "ignore_unknown_options": True}}
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
_HIDDEN = ("agent",)  # `hyphos run` starts it


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

        try:
            typer.echo(f"hyphos {version('hyphos')}")
        except PackageNotFoundError:
            typer.echo("hyphos (from a source tree)")
        raise typer.Exit


def _root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def _nothing() -> None:
    pass


def _module(name: str) -> Any:
    return import_module(f"hyphos.cli.{name}")


def make_app(only: str | None = None) -> typer.Typer:
    """Returns the app with all commands, or with `only` that one command.

    The other commands then have only a name. Importing and reading fifty functions would take more
    than a tenth of a second. With `only=""` all commands have the text of the command list.
    """
    app = typer.Typer(
        name="hyphos",
        cls=PlainGroup,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # a frame would double the time of --help
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Run, watch, record and replay robots that a robot.yaml describes.",
        epilog="Start with: hyphos demo · hyphos doctor · hyphos run robot.yaml --live",
    )
    app.callback()(_root)
    for name in _COMMANDS:
        function = getattr(_module(name), name) if only in (None, "", name) else _nothing
        app.command(
            name,
            cls=Checked,
            help=function.__doc__,
            hidden=name in _HIDDEN,
            context_settings=_PROGRAMS.get(name),
        )(function if only in (None, name) else _nothing)
    for name in _GROUPS:
        if only not in (None, "", name):
            app.command(name)(_nothing)
            continue
        group: typer.Typer = _module(name).app
        if only == "":
            app.command(name, help=group.info.help)(_nothing)
            continue
        wanted = Renamed if name == "lab" else Checked
        _check_values(group, wanted)
        own = group.info.cls  # a placeholder, unless the group has a class of its own
        app.add_typer(group, name=name, cls=own if isinstance(own, type) else PlainGroup)
    return app


def _check_values(group: typer.Typer, wanted: type) -> None:
    """Gives the class to all commands of a group and of the groups below."""
    for command in group.registered_commands:
        if not issubclass(command.cls or object, wanted):
            command.cls = wanted
    for below in group.registered_groups:
        if below.typer_instance is not None:
            _check_values(below.typer_instance, wanted)


def _wanted() -> str | None:
    """The command in sys.argv: "" if there is none, None if all commands may be needed."""
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    # An option before the command is one of the program. It may list all commands.
    if "_HYPHOS_COMPLETE" in os.environ or (words and sys.argv[1] != words[0]):
        return None
    return words[0] if words else ""


def _fail(message: str, remedy: str = "") -> int:
    print(f"error: {message}", file=sys.stderr)
    if remedy:
        print(f"  → {remedy}", file=sys.stderr)
    return 1


def main() -> None:
    """Runs the command line. An error of the user prints one line and a remedy, not a traceback."""
    from hyphos._errors import Error  # noqa: PLC0415
    from hyphos._extras import missing_extra  # noqa: PLC0415

    try:
        make_app(_wanted())()
    except Error as error:
        sys.exit(_fail(str(error), error.advice))
    except ModuleNotFoundError as problem:
        missing = missing_extra(problem)
        if missing is None:
            raise
        sys.exit(_fail(str(missing), missing.advice))
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        # Errors of a file or a disk have their cause outside. Any other one is a bug.
        if error.filename is None and error.errno not in _DISK:
            raise
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        sys.exit(_fail(f"{where}{error.strerror}"))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
