"""Small mesh files: a square of 1 m in the plane of x and y, from (0, 0, 0)."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path

from PIL import Image

CORNERS = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0)]
TRIANGLES = (0, 1, 2, 0, 2, 3)
PLACES = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]  # in the picture


def png(colour: tuple[int, int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(out, "PNG")
    return out.getvalue()


def dae(path: Path) -> None:
    """Red. The file names z as its upward axis."""
    numbers = " ".join(str(value) for corner in CORNERS for value in corner)
    path.write_text(f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="t"><lambert>
<diffuse><color>1 0 0 1</color></diffuse></lambert></technique></profile_COMMON></effect>
</library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="a" count="12">{numbers}</float_array><technique_common>
<accessor source="#a" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="2" material="own"><input semantic="VERTEX" source="#v" offset="0"/>
<p>{" ".join(map(str, TRIANGLES))}</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"><bind_material>
<technique_common><instance_material symbol="own" target="#m"/></technique_common>
</bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>""")


def obj(path: Path, texture: str) -> None:
    """With a material library and a picture beside it."""
    path.with_suffix(".mtl").write_text(f"newmtl own\nKd 1 1 1\nmap_Kd {texture}\n")
    lines = [f"mtllib {path.stem}.mtl", "usemtl own"]
    lines += ["v {} {} {}".format(*corner) for corner in CORNERS]
    lines += ["vt {} {}".format(*place) for place in PLACES]
    path.write_text("\n".join([*lines, "f 1/1 2/2 3/3", "f 1/1 3/3 4/4", ""]))


def glb(path: Path, colour: tuple[int, int, int]) -> None:
    """With a picture inside the file."""
    picture = png(colour)
    picture += bytes(-len(picture) % 4)
    parts = [
        struct.pack("<12f", *(value for corner in CORNERS for value in corner)),
        struct.pack("<8f", *(value for place in PLACES for value in place)),
        struct.pack("<6H", *TRIANGLES),
        picture,
    ]
    views, at = [], 0
    for part in parts:
        views.append({"buffer": 0, "byteOffset": at, "byteLength": len(part)})
        at += len(part)
    floats, shorts = 5126, 5123
    head = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1},
                                    "indices": 2, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}],
        "images": [{"bufferView": 3, "mimeType": "image/png"}],
        "accessors": [
            {"bufferView": 0, "componentType": floats, "count": 4, "type": "VEC3",
             "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": floats, "count": 4, "type": "VEC2"},
            {"bufferView": 2, "componentType": shorts, "count": 6, "type": "SCALAR"},
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": at}],
    }  # fmt: skip
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", at, b"BIN\0") + b"".join(parts)
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
