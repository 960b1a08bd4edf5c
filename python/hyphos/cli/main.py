"""Entry point of the program `hyphos`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from hyphos.cli import (
    action,
    agent,
    bag,
    channel,
    cosim,
    doctor,
    foxglove,
    gateway,
    graph,
    keys,
    lab,
    log,
    metrics,
    msg,
    node,
    param,
    plan,
    record,
    renamed,
    replay,
    run,
    service,
    shm,
    tf,
    time,
    top,
    validate,
    values,
)

_COMMANDS: dict[str, Callable[..., Any]] = {
    "run": run.run,
    "validate": validate.validate,
    "agent": agent.agent,
    "doctor": doctor.doctor,
    "keys": keys.keys,
    "log": log.log,
    "top": top.top,
    "graph": graph.graph,
    "metrics": metrics.metrics,
    "foxglove": foxglove.foxglove,
    "gateway": gateway.gateway,
    "record": record.record,
    "replay": replay.replay,
}
_GROUPS: dict[str, typer.Typer] = {
    "plan": plan.app,
    "channel": channel.app,
    "node": node.app,
    "service": service.app,
    "action": action.app,
    "param": param.app,
    "tf": tf.app,
    "shm": shm.app,
    "time": time.app,
    "bag": bag.app,
    "msg": msg.app,
    "lab": lab.app,
    "cosim": cosim.app,
}
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


def make_app(only: str | None = None) -> typer.Typer:
    """Returns the app with all commands, or with `only` that one command.

    The other commands then have only the part that the command list shows. Reading the options of
    fifty functions would take a tenth of a second.
    """
    app = typer.Typer(
        name="hyphos",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # a frame would double the time of --help
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Run, watch, record and replay robots that a robot.yaml describes.",
        epilog="Start with: hyphos doctor · hyphos plan robot.yaml · hyphos run robot.yaml --live",
    )
    app.callback()(_root)
    for name, function in _COMMANDS.items():
        shown = function if only in (None, name) else _nothing
        settings = _PROGRAMS.get(name)
        app.command(
            name,
            cls=values.Checked,
            help=function.__doc__,
            hidden=name in _HIDDEN,
            context_settings=settings,
        )(shown)
    for name, group in _GROUPS.items():
        if only in (None, name):
            wanted = renamed.Renamed if name == "lab" else values.Checked
            for command in group.registered_commands:
                if not issubclass(command.cls or object, wanted):
                    command.cls = wanted
            app.add_typer(group, name=name)
        else:
            app.command(name, help=group.info.help)(_nothing)
    return app


def _wanted() -> str | None:
    """The command in sys.argv: "" if there is none, None if all commands may be needed."""
    if "_HYPHOS_COMPLETE" in os.environ:
        return None
    return next((word for word in sys.argv[1:] if not word.startswith("-")), "")


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
