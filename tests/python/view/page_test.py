"""The page of `hyphos view --serve` in headless Chromium, with a real robot and real pictures."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hyphos
import numpy as np
import pytest
import recordings
import shown_robot
from browser import Page
from claims import own_port
from foxglove_client import joined
from helpers import Program, Start, wait_until
from hyphos import Attached, msgs
from page_pictures import has_colour, pixels
from recordings import record_each
from served_view import Server, needs_page, served, state, until

pytestmark = needs_page
Serve = Callable[..., Server]


@pytest.fixture
def serve(hyphos_start: Start) -> Serve:
    """`serve(...)` runs `hyphos view --serve :0 ...`."""
    return lambda *words: served(hyphos_start("view", "--serve", ":0", *words))


@pytest.fixture
def robot(start: Start, domain: str) -> Program:
    program = start(sys.executable, str(Path(shown_robot.__file__)), domain)
    assert program.line() == "up"
    return program


def show(tab: Page, server: Server, *, dark: bool = False) -> None:
    """Opens the page in a window that is small, because the processor draws it."""
    tab.open("about:blank")  # ends the requests of a former page
    tab.open(server.page, width=820, height=560, dark=dark)


SHOWN = {"map", "scan", "cloud", "path", "particles", "odom", "robot_description", "signs"}
FRAMES = {"map", "base", "laser"}


def everything(now: dict[str, Any]) -> bool:
    """Each display has drawn a message, at its place in the fixed frame."""
    shown = now["displays"]
    return (
        shown.keys() >= SHOWN
        and set(now["frames"]) >= FRAMES
        and now["fixed"] == "map"
        and all(shown[name]["messages"] and shown[name]["visible"] for name in SHOWN)
        and now["images"] > 0
        and now["lines"] > 0
    )


@pytest.mark.usefixtures("robot")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_robot_is_shown_in_space_and_in_tables(
    serve: Serve, drawing_tab: Page, domain: str, tmp_path: Path, dark: bool
) -> None:
    server = serve("-d", domain)
    tab = drawing_tab
    show(tab, server, dark=dark)
    now = until(tab, everything, "all displays")
    assert now["connection"] == "open"
    assert now["displays"]["cloud"]["size"] == shown_robot.POINTS
    assert now["displays"]["scan"]["size"] == 180
    assert now["displays"]["map"]["size"] == 80 * 60
    assert now["displays"]["path"]["size"] == 40
    assert now["displays"]["signs"]["size"] == 4
    states = {name: one["state"] for name, one in now["displays"].items() if one["state"]}
    assert states.keys() <= {"robot_description"}
    assert now["problems"] == 0
    background = (26, 32, 39) if dark else (243, 245, 247)

    def drawn() -> bool:
        """The robot of the model is orange, and the cloud has many colours."""
        scene = pixels(tab, tmp_path / "page.png")[90:540, 0:470]
        colours = len(np.unique(scene.reshape(-1, 3), axis=0))
        return (
            has_colour(scene, (225, 115, 0), 60) > 20
            and has_colour(scene, background, 3) > 2000
            and colours > 300
        )

    wait_until(drawn, "a picture of the robot")
    # The picture of the camera: a red square on blue.
    side = pixels(tab, tmp_path / "page.png")[280:, 490:]
    assert has_colour(side, (0, 0, 200)) > 1000
    assert has_colour(side, (230, 20, 20)) > 150


@pytest.mark.usefixtures("robot")
def test_the_table_has_rates_and_the_reasons_of_what_is_not_shown(
    serve: Serve, drawing_tab: Page, domain: str
) -> None:
    tab = drawing_tab
    show(tab, serve("-d", domain))

    def rated(now: dict[str, Any]) -> object:
        rows = {row[0]: row for row in now["rows"]}
        if "scan" not in rows:
            return False
        return re.fullmatch(r"[4-6]\.\d", rows["scan"][2]) and rows["cloud"][3].endswith(" kB")

    rows = {row[0]: row for row in until(tab, rated, "the rate of the robot")["rows"]}
    assert rows["scan"][1] == "LaserScan"
    assert rows["scan"][4] == "0"
    assert rows["pose"][6] == "not shown: Foxglove cannot read struct"


@pytest.mark.usefixtures("robot")
def test_numbers_are_plotted_and_messages_are_a_tree(
    serve: Serve, drawing_tab: Page, domain: str, tmp_path: Path
) -> None:
    tab = drawing_tab
    show(tab, serve("-d", domain))
    until(tab, lambda now: "odom" in now["channels"], "the channel odom")
    tab.ask("hyphos.plot('odom:linear_velocity.x')")
    field = "odom:linear_velocity.x"
    until(tab, lambda now: now["plots"].get(field, 0) > 10, "samples of the plot")

    def drawn() -> bool:
        picture = pixels(tab, tmp_path / "plot.png")
        return has_colour(picture[300:, 460:], (11, 101, 194)) > 25

    wait_until(drawn, "a line")
    tab.ask("hyphos.choose('odom')")
    text = "document.querySelector('.tree').textContent"
    wait_until(lambda: "pose_covariance36 elements" in tab.ask(text), "the tree of a message")
    assert "body_frame_id" in tab.ask(text)
    # A press on a number plots it.
    press = (
        "[...document.querySelectorAll('.tree button.number')].find(b => b.title == 'plot').click()"
    )
    tab.ask(press)
    until(tab, lambda now: len(now["plots"]) == 2, "a second line")


@pytest.mark.usefixtures("robot")
def test_nothing_is_drawn_while_nothing_changes(
    serve: Serve, drawing_tab: Page, robot: Program, domain: str
) -> None:
    tab = drawing_tab
    show(tab, serve("-d", domain))

    def whole(now: dict[str, Any]) -> bool:
        lost = now["displays"].get("robot_description", {"state": ""})["state"]
        return everything(now) and now["placed"] and "fin.stl" in lost and "lost.stl" in lost

    until(tab, whole, "all displays, the first view, and the reasons for missing meshes")
    robot.popen.kill()
    until(tab, lambda now: now["channels"] == [], "the end of the robot")
    # The browser itself goes on.
    frames = """new Promise(done => {
      let n = 0;
      const next = () => ++n > 10 ? done(n) : requestAnimationFrame(next);
      next();
    })"""

    def settled() -> bool:
        before = state(tab)["drawn"]
        tab.ask(frames)
        now = state(tab)
        return bool(now["drawn"] == before and not now["requested"])

    wait_until(settled, "the last picture")
    assert all(settled() for _ in range(5))
    assert state(tab)["displays"]["cloud"]["size"] == shown_robot.POINTS  # the last picture stays


@pytest.mark.usefixtures("robot")
def test_meshes_of_a_model_are_shown_and_missing_ones_named(
    serve: Serve, drawing_tab: Page, domain: str, tmp_path: Path
) -> None:
    folder = tmp_path / "packages"
    (folder / "rover").mkdir(parents=True)
    (folder / "rover/fin.stl").write_text(shown_robot.FIN)
    tab = drawing_tab
    show(tab, serve("-d", domain, "--packages", str(folder)))

    def loaded(now: dict[str, Any]) -> bool:
        model = now["displays"].get("robot_description", {})
        missing = "mesh 'package://rover/lost.stl': the server has no such file, give it --packages"
        return model.get("meshes") == 1 and missing in model["state"]

    until(tab, loaded, "the meshes")

    def violet() -> bool:
        return has_colour(pixels(tab, tmp_path / "mesh.png")[90:, :470], (135, 0, 180), 60) > 20

    wait_until(violet, "a violet fin")


@pytest.mark.usefixtures("robot")
def test_an_image_is_shown_in_front_of_its_camera(
    serve: Serve, drawing_tab: Page, domain: str, tmp_path: Path
) -> None:
    tab = drawing_tab
    show(tab, serve("-d", domain))
    until(tab, lambda now: everything(now) and now["placed"], "all displays and the first view")
    blue = (0, 0, 200)
    assert "camera/front" not in state(tab)["displays"]  # only on request
    before = has_colour(pixels(tab, tmp_path / "page.png")[90:540, 0:470], blue, 25)
    tab.ask("hyphos.display('camera/front', true)")

    def drawn() -> bool:
        scene = pixels(tab, tmp_path / "page.png")[90:540, 0:470]
        return has_colour(scene, blue, 25) > before + 200

    wait_until(drawn, "the picture in space")
    calibrated = {"size": 160 * 120, "state": ""}
    until(
        tab, lambda now: now["displays"]["camera/front"].items() >= calibrated.items(), "its state"
    )


@pytest.mark.usefixtures("robot")
def test_choices_survive_a_reload(serve: Serve, drawing_tab: Page, domain: str) -> None:
    tab = drawing_tab
    server = serve("-d", domain)
    show(tab, server)
    until(tab, everything, "all displays")
    tab.ask("hyphos.display('map', false)")
    tab.ask("hyphos.plot('odom:linear_velocity.x')")
    until(tab, lambda now: "linear_velocity" in (now["saved"] or ""), "the choices to be kept")
    show(tab, server)
    now = until(tab, lambda now: "scan" in now["displays"], "the displays")
    assert list(now["plots"]) == ["odom:linear_velocity.x"]
    assert "map" not in now["displays"]


def test_the_page_reconnects_to_a_server_that_comes_back(
    hyphos_start: Start, robot: Program, drawing_tab: Page, domain: str
) -> None:
    assert robot.popen.poll() is None
    tab = drawing_tab
    words = ("view", "--serve", f":{own_port()}", "-d", domain)
    first = served(hyphos_start(*words))
    show(tab, first)
    until(tab, everything, "all displays")
    first.program.popen.kill()
    first.program.popen.wait()
    now = until(tab, lambda now: now["connection"] == "closed", "the end of the connection")
    assert "next try in" in now["text"]
    served(hyphos_start(*words))

    def again(now: dict[str, Any]) -> bool:
        """The page has forgotten the messages of the former server."""
        return now["connections"] >= 2 and "scan" in now["channels"]

    now = until(tab, again, "a reconnect")
    assert now["connection"] == "open"
    before = now["displays"]["scan"]["messages"]
    until(tab, lambda now: now["displays"]["scan"]["messages"] > before, "new scans")


def test_a_slow_browser_drops_and_states_how_many(
    serve: Serve, drawing_tab: Page, domain: str, node: hyphos.Node
) -> None:
    """The debugger stops the page, so that it reads nothing. Another client reads on."""
    out = node.publisher("camera", Attached[msgs.Image])
    head = msgs.Image(width=1000, height=1000, step=1000, encoding="mono8")
    grey = np.zeros(10**6, np.uint8)
    tab = drawing_tab
    server = serve("-d", domain)
    show(tab, server)
    wait_until(lambda: out.listeners > 0, "the subscription of the page")
    out.publish(head, grey)
    until(tab, lambda now: now["images"] > 0, "an image")
    assert state(tab)["dropped"] == 0
    tab.call("Debugger.enable")
    tab.call("Debugger.pause")
    with joined(server.port) as quick:
        quick.subscribe("hyphos/viewer")

        def dropped() -> int:
            out.publish(head, grey)
            values = quick.of("hyphos/viewer")
            return int(json.loads(values[-1].data)["dropped"]) if values else 0

        wait_until(lambda: dropped() > 20, "drops for the stopped page")
    tab.call("Debugger.resume")
    tab.call("Debugger.disable")
    until(tab, lambda now: now["dropped"] > 20, "the drops on the page")
    told = "document.getElementById('drops').textContent"
    wait_until(lambda: "messages dropped: this browser is too slow" in tab.ask(told), "the line")
    wait_until(
        lambda: "this browser too slow" in " ".join(row[6] for row in state(tab)["rows"]),
        "drops by channel",
    )
    code, text, _ = server.program.stop()
    assert code == 0
    assert re.search(r"[\d,]+ messages dropped for clients that were too slow", text)


def test_a_token_is_asked_for_and_checked(
    serve: Serve, robot: Program, drawing_tab: Page, domain: str, tmp_path: Path
) -> None:
    assert robot.popen.poll() is None
    tab = drawing_tab
    secret = tmp_path / "token"
    secret.write_text("open-sesame\n")
    secret.chmod(0o600)
    server = serve("--token", str(secret), "-d", domain)
    assert server.page.endswith("#token=open-sesame")
    bare = server.page.partition("#")[0]
    tab.open(bare)
    now = until(tab, lambda now: now["connection"] == "refused", "a refusal")
    assert "no token" in now["text"]
    assert now["channels"] == []
    tab.open("about:blank")
    tab.open(f"{bare}#token=wrong-token")
    now = until(tab, lambda now: now["connection"] == "refused", "a second refusal")
    assert "wrong token" in now["text"]
    # The form reloads the page with the token, after the reply to this request.
    tab.ask(
        "document.querySelector('#token input').value = 'open-sesame';"
        "void setTimeout(() => document.querySelector('#token button').click())"
    )
    until(tab, lambda now: now["connection"] == "open" and "scan" in now["channels"], "entry")
    _, out, _ = server.program.stop()
    assert "refused 127.0.0.1:" in out


def test_the_page_loads_nothing_from_elsewhere(
    serve: Serve, drawing_tab: Page, domain: str
) -> None:
    tab = drawing_tab
    server = serve("-d", domain)
    show(tab, server)
    until(tab, lambda now: now["connection"] == "open", "a connection")
    asked = [one["request"]["url"] for one in tab.named("Network.requestWillBeSent")]
    assert asked
    assert all(url.startswith((server.page, "data:")) for url in asked), asked
    complaints = [one for one in tab.named("Log.entryAdded") if one["entry"]["level"] == "error"]
    assert complaints == []
    # The policy forbids code that a text of the robot could become.
    # The debugger's own code is exempt, so the code runs later.
    script = "try { window.no = new Function('return 1')() } catch (e) { window.no = e.name }"
    tab.ask(f"void setTimeout(() => {{ {script} }})")
    wait_until(lambda: tab.ask("window.no") == "EvalError", "a refusal of generated code")


def test_a_recording_plays_pauses_and_seeks(
    serve: Serve, robot: Program, hyphos_start: Start, drawing_tab: Page, domain: str,
    tmp_path: Path,
) -> None:  # fmt: skip
    assert robot.popen.poll() is None
    file = tmp_path / "run.mcap"
    others = {"tf", "tf_static", "camera/front", "log"}
    record_each(hyphos_start, domain, file, SHOWN | others, most=20)
    items = recordings.everything(file)
    times = {name: [item.time_ns for item in found] for name, found in items.items() if found}
    begin_ns, end_ns = min(map(min, times.values())), max(map(max, times.values()))
    # From this time on, there is a message of each channel.
    whole_s = (max(times[name][0] for name in SHOWN | others) - begin_ns) / 1e9 + 0.1
    tab = drawing_tab
    server = serve(str(file))
    show(tab, server)
    now = until(tab, everything, "all displays of the recording")
    assert now["playback"]["status"] in ("playing", "ended")
    tab.ask("hyphos.pause()")
    until(tab, lambda now: now["playback"]["status"] == "paused", "a pause")
    tab.ask(f"hyphos.seek({whole_s})")

    def sought(now: dict[str, Any]) -> bool:
        shown = now["displays"]
        return now["playback"]["seeks"] >= 1 and everything(now) and shown["map"]["visible"]

    now = until(tab, sought, f"the values at {whole_s} s")
    assert abs(now["playback"]["atS"] - whole_s) < 0.01
    assert now["playback"]["status"] == "paused"
    tab.ask("hyphos.play()")
    now = until(tab, lambda now: now["playback"]["status"] == "ended", "the end")
    assert now["playback"]["atS"] == pytest.approx((end_ns - begin_ns) / 1e9, abs=0.1)
    code, _, err = server.program.stop()
    assert (code, err) == (0, "")
