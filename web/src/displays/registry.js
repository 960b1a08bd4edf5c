// The displays by the schema of their channel. A new display is a file here and a line below.
import { EntitiesDisplay } from "./entities.js";
import { GridDisplay } from "./grid.js";
import { ImageDisplay } from "./image.js";
import { CloudDisplay, ScanDisplay } from "./points.js";
import { OdometryDisplay, PathDisplay, PointDisplay, PoseDisplay } from "./poses.js";
import { RobotDisplay } from "./robot.js";
import { TransformsDisplay } from "./transforms.js";

const KINDS = {
  "foxglove.CompressedImage": ["image", ImageDisplay, { off: true }],
  "foxglove.RawImage": ["image", ImageDisplay, { off: true }],
  "foxglove.FrameTransform": ["transforms", TransformsDisplay],
  "foxglove.FrameTransforms": ["transforms", TransformsDisplay],
  "foxglove.Grid": ["grid", GridDisplay],
  "foxglove.LaserScan": ["laser scan", ScanDisplay],
  "foxglove.Odometry": ["odometry", OdometryDisplay],
  "foxglove.Point3InFrame": ["point", PointDisplay],
  "foxglove.PointCloud": ["points", CloudDisplay],
  "foxglove.PoseInFrame": ["pose", PoseDisplay],
  "foxglove.PosesInFrame": ["path", PathDisplay],
  "foxglove.SceneUpdate": ["markers", EntitiesDisplay],
};

// {kind, off, make(channel, services)} for a channel that can be shown in space, or null. `off`: only
// if the user asks for it.
export function displayOf(channel) {
  const isRobot =
    channel.schema === "hyphos.msgs.String" && /(^|\/)robot_description$/.test(channel.topic);
  const [kind, type, { off = false } = {}] = isRobot
    ? ["robot model", RobotDisplay]
    : (KINDS[channel.schema] ?? []);
  return type ? { kind, off, make: (services) => new type(channel, services) } : null;
}
