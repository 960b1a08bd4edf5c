"""A robot with one channel of each kind that the page for browsers shows.

Argument: the domain. Its model has a mesh in the package `rover`, and one that is missing.
Prints "up", and publishes until it is stopped. The place of everything is known, so that a test can
look at pixels.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import hyphos
import numpy as np
from hyphos import Attached, Policy, Transform
from hyphos.msgs import (
    CameraInfo,
    Image,
    JointState,
    LaserScan,
    Marker,
    MarkerArray,
    OccupancyGrid,
    Odometry,
    Path,
    PointCloud,
    PoseArray,
    String,
)

URDF = """<robot name="rover">
<material name="orange"><color rgba="1 0.5 0 1"/></material>
<link name="base"><visual><origin xyz="0 0 0.15"/><geometry><box size="0.8 0.5 0.2"/></geometry>
<material name="orange"/></visual></link>
<link name="mast"><visual>
<geometry><cylinder radius="0.05" length="0.6"/></geometry></visual></link>
<link name="head"><visual><geometry><sphere radius="0.12"/></geometry></visual></link>
<link name="fin"><visual><geometry><mesh filename="package://rover/fin.stl"/></geometry>
<material name="violet"><color rgba="0.6 0 0.8 1"/></material></visual>
<visual><geometry><mesh filename="package://rover/lost.stl"/></geometry></visual></link>
<joint name="lift" type="prismatic"><parent link="base"/><child link="mast"/>
<origin xyz="0 0 0.5"/><axis xyz="0 0 1"/></joint>
<joint name="turn" type="fixed"><parent link="mast"/><child link="head"/>
<origin xyz="0 0 0.4"/></joint>
<joint name="wing" type="fixed"><parent link="base"/><child link="fin"/></joint>
</robot>"""
# A vertical triangle of 1 m.
FIN = """solid fin
facet normal 0 1 0
outer loop
vertex 0 0 0
vertex -1 0 0
vertex -1 0 1
endloop
endfacet
endsolid fin
"""
# The optical frame of a camera that looks along x: z forward, x to the right, y down.
FORWARD = (-0.5, 0.5, -0.5, 0.5)
LATCHED = Policy(latched=True)


def stamped(message: Any, node: hyphos.Node, frame: str) -> Any:
    message.header.stamp_ns, message.header.frame_id = node.clock.now_ns(), frame
    return message


def room_map(node: hyphos.Node) -> Any:
    cells = np.zeros((60, 80), np.uint8)
    cells[[0, -1], :] = cells[:, [0, -1]] = 100
    cells[20:24, 30:50] = 100
    cells[:, 60:] = 255
    grid = stamped(OccupancyGrid(data=cells.tobytes()), node, "map")
    grid.info.width, grid.info.height, grid.info.resolution = 80, 60, 0.1
    grid.info.origin.position.x, grid.info.origin.position.y = -4, -3
    return grid


def cloud_head(node: hyphos.Node, count: int) -> Any:
    head = stamped(
        PointCloud(height=1, width=count, point_step=16, row_step=16 * count), node, "map"
    )
    for number, name in enumerate(("x", "y", "z", "intensity")):
        head.fields.add(name=name, offset=4 * number, datatype=7, count=1)
    return head


def ball(count: int) -> Any:
    """Points on a sphere of 1 m above (2, 1)."""
    i = np.arange(count)
    z = 1 - 2 * (i + 0.5) / count
    angle = i * math.pi * (3 - math.sqrt(5))
    radius = np.sqrt(1 - z * z)
    points = [2 + radius * np.cos(angle), 1 + radius * np.sin(angle), 1.2 + z, z]
    return np.ascontiguousarray(np.stack(points, axis=1).astype("<f4"))


def picture(step: int) -> Any:
    """A red square that moves over a blue picture."""
    pixels = np.zeros((120, 160, 3), np.uint8)
    pixels[..., 2] = 200
    at = 8 * step % 120
    pixels[40:80, at : at + 40] = (230, 20, 20)
    return pixels


def way(node: hyphos.Node, kind: Any, count: int) -> Any:
    made = stamped(kind(), node, "map")
    for i in range(count):
        pose = made.poses.add()
        pose = pose.pose if kind is Path else pose
        pose.position.x, pose.position.y = -3 + 0.1 * i, -2 + math.sin(0.2 * i)
        pose.orientation.w = 1
    return made


def marker(node: hyphos.Node, number: int, kind: Any, x: float, **colour: float) -> Any:
    one = stamped(Marker(ns="signs", id=number, type=kind, action=Marker.ADD), node, "map")
    one.pose.position.x, one.pose.position.y, one.pose.position.z = x, -1.5, 0.3
    one.pose.orientation.w = 1
    one.scale.x = one.scale.y = one.scale.z = 0.5
    one.color.a = 1
    for name, value in colour.items():
        setattr(one.color, name, value)
    one.text = "dock" if kind == Marker.TEXT_VIEW_FACING else ""
    return one


RATE_HZ = 5  # every message is a picture, which the processor draws
POINTS = 5000


def main(domain: str, points: int = POINTS) -> None:
    node = hyphos.Node.open("rover", domain=domain, process="rover")
    frames = node.transforms()
    frames.set_static(Transform("base", "laser", (0.3, 0, 0.3)))
    scan = node.publisher("scan", LaserScan)
    cloud = node.publisher("cloud", Attached[PointCloud])
    grid = node.publisher("map", OccupancyGrid, policy=LATCHED)
    path = node.publisher("path", Path)
    particles = node.publisher("particles", PoseArray)
    odom = node.publisher("odom", Odometry)
    frames.set_static(Transform("base", "camera", (0.4, 0, 0.4), FORWARD))
    camera = node.publisher("camera/front", Attached[Image])
    calibration = node.publisher("camera/info", CameraInfo)
    joints = node.publisher("joint_states", JointState)
    model = node.publisher("robot_description", String, policy=LATCHED)
    signs = node.publisher("signs", MarkerArray)
    place = node.publisher("pose", hyphos.Struct("demo.Pose", [("x", "f8")]))
    grid.publish(room_map(node))
    model.publish(String(data=URDF))
    shape = ball(points)
    step = 0

    def publish() -> None:
        nonlocal step
        step += 1
        x, y = 0.5 * math.cos(step / 12), 0.5 * math.sin(step / 12)
        frames.set(Transform("map", "base", (x, y, 0), stamp_ns=node.clock.now_ns()))
        one = LaserScan(angle_min=-math.pi, angle_max=math.pi, ranges=[1.5] * 180)
        scan.publish(stamped(one, node, "laser"))
        cloud.publish(cloud_head(node, points), shape)
        path.publish(way(node, Path, 40))
        particles.publish(way(node, PoseArray, 30))
        moved = stamped(Odometry(child_frame_id="base"), node, "map")
        moved.pose.pose.position.x, moved.pose.pose.position.y = x, y
        moved.pose.pose.orientation.w = 1
        moved.pose.covariance.extend([0.02 if i in (0, 7) else 0 for i in range(36)])
        moved.twist.twist.linear.x = math.sin(step / 3)
        odom.publish(moved)
        head = stamped(Image(height=120, width=160, encoding="rgb8", step=480), node, "camera")
        camera.publish(head, picture(step))
        pinhole = CameraInfo(height=120, width=160, k=[120, 0, 80, 0, 120, 60, 0, 0, 1])
        calibration.publish(stamped(pinhole, node, "camera"))
        joints.publish(
            stamped(JointState(name=["lift"], position=[0.1 * math.sin(step / 5)]), node, "")
        )
        texts = [
            marker(node, 1, Marker.CUBE, -2, r=0.9),
            marker(node, 2, Marker.SPHERE, -1, g=0.8),
            marker(node, 3, Marker.ARROW, 0, b=0.9),
            marker(node, 4, Marker.TEXT_VIEW_FACING, 1.5, r=0.9, b=0.9),
        ]
        signs.publish(MarkerArray(markers=texts))
        if step % 4 == 0:
            node.log.warn("battery at %d %%", 100 - step // 4 % 100)

    node.every(publish, rate_hz=RATE_HZ)
    assert place.channel
    print("up", flush=True)
    node.spin()


if __name__ == "__main__":
    main(sys.argv[1])
