"""Meshes of markers and of robot models in the page of `hyphos view --serve`, looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hyphos
import mesh_files
from browser import Page
from helpers import Start
from hyphos import Policy, msgs
from page_pictures import has_colour, pixels
from served_view import needs_page, served, until

pytestmark = needs_page
LATCHED = Policy(latched=True)
URDF = """<robot name="r"><link name="map">
<visual><origin xyz="2.2 0 0"/><geometry><mesh filename="package://rover/meshes/arm.dae"/></geometry>
<material name="cyan"><color rgba="0 1 1 1"/></material></visual>
<visual><origin xyz="3.3 0 0"/><geometry><mesh filename="package://rover/meshes/plain.obj"/></geometry>
<material name="violet"><color rgba="0.6 0 0.9 1"/></material></visual></link></robot>"""


def marker(number: int, x: float, y: float, **fields: Any) -> Any:
    one = msgs.Marker(ns="m", id=number, type=msgs.Marker.MESH_RESOURCE, **fields)
    one.header.frame_id = "map"
    one.pose.position.x, one.pose.position.y = x, y
    one.pose.orientation.w = 1
    one.scale.x = one.scale.y = one.scale.z = 1
    one.color.r, one.color.g, one.color.a = 1, 1, 1  # yellow
    return one


def test_meshes_have_their_own_colours_or_that_of_the_message(
    drawing_tab: Page, hyphos_start: Start, domain: str, node: hyphos.Node, tmp_path: Path
) -> None:
    meshes = tmp_path / "rover/meshes"
    meshes.mkdir(parents=True)
    mesh_files.dae(meshes / "arm.dae")
    mesh_files.obj(meshes / "skin.obj", "../skin.png")
    (tmp_path / "rover/skin.png").write_bytes(mesh_files.png((0, 200, 0)))
    (meshes / "plain.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n")
    mesh_files.glb(tmp_path / "inside.glb", (0, 0, 220))
    first = "package://rover/meshes"
    inside = msgs.MeshFile(filename="a.glb", data=(tmp_path / "inside.glb").read_bytes())
    own = {"mesh_use_embedded_materials": True}
    signs = node.publisher("signs", msgs.MarkerArray, policy=LATCHED)
    signs.publish(
        msgs.MarkerArray(
            markers=[
                marker(1, 0, 0, mesh_resource=f"{first}/skin.obj", **own),
                marker(2, 1.1, 0, mesh_resource="embedded://a.glb", mesh_file=inside, **own),
                marker(3, 0, 1.1, mesh_resource=f"{first}/skin.obj"),
                marker(4, 1.1, 1.1, mesh_resource=f"{first}/lost.dae"),
            ]
        )
    )
    model = node.publisher("robot_description", msgs.String, policy=LATCHED)
    model.publish(msgs.String(data=URDF))
    server = served(
        hyphos_start("view", "--serve", ":0", "-d", domain, "--packages", str(tmp_path))
    )
    tab = drawing_tab
    tab.open("about:blank")
    tab.open(server.page, width=820, height=560, dark=True)

    def loaded(now: dict[str, Any]) -> bool:
        signs = now["displays"].get("signs", {"state": ""})
        return bool(
            signs.get("meshes") == 3
            and "lost.dae': the server has no such file" in signs["state"]
            and now["displays"].get("robot_description", {}).get("meshes") == 2
            and now["placed"]
        )

    now = until(tab, loaded, "the meshes")
    assert now["displays"]["robot_description"]["state"] == ""
    tab.ask("hyphos.view('top')")

    def coloured(_: dict[str, Any]) -> bool:
        scene = pixels(tab, tmp_path / "page.png")[90:540, 0:470]
        wanted = {
            "texture of a file": (0, 200, 0),
            "texture inside a message": (0, 0, 220),
            "colour of the marker": (255, 255, 0),
            "colour of the file": (255, 0, 0),
            "colour of the link": (153, 0, 230),
        }
        return all(has_colour(scene, colour, 60) > 150 for colour in wanted.values())

    until(tab, coloured, "five colours")
