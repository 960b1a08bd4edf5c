"""The program `hyphos`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hyphos.cli import (
    action,
    agent,
    bag,
    channel,
    doctor,
    graph,
    keys,
    log,
    metrics,
    node,
    param,
    plan,
    record,
    replay,
    run,
    service,
    shm,
    tf,
    time,
    top,
    validate,
)

app = typer.Typer(
    name="hyphos",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Runs, watches, records and replays robots described by a robot.yaml.",
    epilog="Start with: hyphos doctor · hyphos plan robot.yaml · hyphos run robot.yaml --live",
)
app.command("run")(run.run)
app.command("plan")(plan.plan)
app.command("validate")(validate.validate)
app.command("agent", hidden=True)(agent.agent)
app.add_typer(channel.app, name="channel")
app.add_typer(node.app, name="node")
app.add_typer(service.app, name="service")
app.add_typer(action.app, name="action")
app.add_typer(param.app, name="param")
app.add_typer(tf.app, name="tf")
app.add_typer(shm.app, name="shm")
app.add_typer(time.app, name="time")
app.command("doctor")(doctor.doctor)
app.command("keys")(keys.keys)
app.command("log")(log.log)
app.command("top")(top.top)
app.command("graph")(graph.graph)
app.command("metrics")(metrics.metrics)
app.command("record")(record.record)
app.command("replay")(replay.replay)
app.add_typer(bag.app, name="bag")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

        try:
            typer.echo(f"hyphos {version('hyphos')}")
        except PackageNotFoundError:
            typer.echo("hyphos (from a source tree)")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def _fail(message: str, remedy: str = "") -> int:
    print(f"error: {message}", file=sys.stderr)
    if remedy:
        print(f"  → {remedy}", file=sys.stderr)
    return 1


def main() -> None:
    """Entry point. Mistakes of the user end in one line and a remedy, never in a traceback."""
    from hyphos._errors import Error  # noqa: PLC0415

    try:
        app()
    except Error as error:
        sys.exit(_fail(str(error), error.advice))
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
