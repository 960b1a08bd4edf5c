// Poses, paths, arrays of poses, points and odometry.
import {
  BufferGeometry,
  Color,
  Line,
  LineBasicMaterial,
  Mesh,
  MeshBasicMaterial,
  SphereGeometry,
  Vector3,
} from "three";
import { colours } from "../dom.js";
import { poseOf } from "../frames.js";
import { Display } from "./display.js";
import { Axes, Way } from "./shapes.js";

const MOST_POSES = 20_000;
const MOST_AXES = 2000;
const MOST_TRAIL = 5000;
const TRAIL_STEP = 0.02; // metres

function posesOf(list) {
  const found = [];
  let left = 0;
  for (const one of list) {
    const pose = found.length < MOST_POSES ? poseOf(one) : null;
    if (pose) found.push(pose);
    else ++left;
  }
  return { found, left };
}

export class PathDisplay extends Display {
  constructor(channel, { isArray = () => false } = {}) {
    super(channel);
    this.isArray = isArray;
    this.way = new Way(colours().series[2]);
    this.axes = new Axes(0.2);
    this.group.add(this.way.object, this.axes.object);
  }

  show({ poses }) {
    const { found, left } = posesOf(poses);
    const array = this.isArray(this.channel.topic);
    this.size = found.length;
    this.way.object.visible = !array;
    this.way.set(array ? [] : found.map(({ t }) => t));
    const step = Math.max(1, Math.ceil(found.length / (array ? MOST_AXES : 100)));
    this.axes.set(found.filter((_, i) => i % step === 0));
    this.note = left > 0 ? `${left} poses are left out` : "";
  }
}

export class PoseDisplay extends Display {
  constructor(channel) {
    super(channel);
    this.axes = new Axes(0.5);
    this.trail = [];
    this.way = new Way(colours().series[0]);
    this.group.add(this.axes.object, this.way.object);
  }

  show(message) {
    const pose = poseOf(message.pose);
    if (!pose) throw new Error("its pose is not finite");
    const last = this.trail.at(-1);
    if (!last || Math.hypot(...last.map((value, i) => value - pose.t[i])) > TRAIL_STEP) {
      this.trail.push(pose.t);
      if (this.trail.length > MOST_TRAIL) this.trail.shift();
      this.way.set(this.trail);
    }
    this.size = this.trail.length;
    this.axes.set([pose]);
    this.extra(message, pose);
  }

  extra() {}

  clear() {
    super.clear();
    this.trail = [];
    this.way.set([]);
  }
}

export class OdometryDisplay extends PoseDisplay {
  constructor(channel) {
    super(channel);
    this.ellipse = new Line(
      new BufferGeometry(),
      new LineBasicMaterial({ color: new Color(colours().series[3]) }),
    );
    this.ellipse.frustumCulled = false;
    this.group.add(this.ellipse);
  }

  // The 95 % ellipse of x and y: 2.4477 standard deviations.
  extra({ poseCovariance: c }, { t }) {
    const points = ellipse(c[0], (c[1] + c[6]) / 2, c[7]);
    this.ellipse.visible = points.length > 0;
    this.ellipse.geometry.setFromPoints(
      points.map(([x, y]) => new Vector3(t[0] + x, t[1] + y, t[2])),
    );
  }
}

export function ellipse(xx, xy, yy, deviations = 2.4477, corners = 48) {
  const middle = (xx + yy) / 2;
  const radius = Math.hypot((xx - yy) / 2, xy);
  const [a, b] = [middle + radius, middle - radius].map(
    (one) => deviations * Math.sqrt(Math.max(0, one)),
  );
  if (!(a > 1e-6) || !Number.isFinite(a)) return [];
  const turn = Math.atan2(2 * xy, xx - yy) / 2;
  return Array.from({ length: corners + 1 }, (_, i) => {
    const angle = (2 * Math.PI * i) / corners;
    const x = a * Math.cos(angle);
    const y = b * Math.sin(angle);
    return [x * Math.cos(turn) - y * Math.sin(turn), x * Math.sin(turn) + y * Math.cos(turn)];
  });
}

export class PointDisplay extends Display {
  constructor(channel) {
    super(channel);
    this.ball = new Mesh(
      new SphereGeometry(0.1, 16, 12),
      new MeshBasicMaterial({ color: new Color(colours().series[4]) }),
    );
    this.group.add(this.ball);
  }

  show({ point }) {
    const { x, y, z } = point ?? { x: 0, y: 0, z: 0 };
    if (!Number.isFinite(x + y + z)) throw new Error("its position is not finite");
    this.ball.position.set(x, y, z);
    this.size = 1;
  }
}
