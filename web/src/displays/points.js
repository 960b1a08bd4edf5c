// Point clouds and laser scans.
import { BufferAttribute, BufferGeometry, Color, Points, PointsMaterial } from "three";
import { MOST_POINTS, colourFields, scanPoints, unpack } from "../clouds.js";
import { poseOf } from "../frames.js";
import { colours } from "../dom.js";
import { Display } from "./display.js";

const MOST_IN_SOFTWARE = 50_000; // the processor draws about 100,000 points in a second

class PointsDisplay extends Display {
  constructor(channel, { inSoftware = () => false } = {}) {
    super(channel);
    this.inSoftware = inSoftware;
    this.geometry = new BufferGeometry();
    this.material = new PointsMaterial({ size: 3, sizeAttenuation: false });
    this.points = new Points(this.geometry, this.material);
    this.points.frustumCulled = false; // its bounds would cost a pass over all points
    this.group.add(this.points);
  }

  // Replaces the points. Buffers that are large enough are used again.
  set(name, values, items, type) {
    let attribute = this.geometry.getAttribute(name);
    if (!attribute || attribute.array.length < values.length) {
      const room = new type(Math.ceil(values.length / items / 1024) * 1024 * items || items);
      this.geometry.deleteAttribute(name);
      attribute = new BufferAttribute(room, items, name === "color");
      this.geometry.setAttribute(name, attribute);
    }
    attribute.array.set(values);
    attribute.clearUpdateRanges();
    attribute.addUpdateRange(0, values.length);
    attribute.needsUpdate = true;
  }

  finish({ size, total, left, step }, pose) {
    this.size = size;
    this.geometry.setDrawRange(0, size);
    if (!pose) throw new Error("its pose is not finite");
    this.points.position.set(...pose.t);
    this.points.quaternion.set(...pose.q);
    const notes = [];
    if (step > 1) {
      const why = total > MOST_POINTS ? "" : ", because the processor draws";
      notes.push(`one of ${step} points is shown, of ${total.toLocaleString("en")}${why}`);
    }
    if (left > 0) notes.push(`${left.toLocaleString("en")} points are not finite`);
    this.note = notes.join(", ");
  }

  clear() {
    super.clear();
    this.geometry.setDrawRange(0, 0);
  }
}

export class CloudDisplay extends PointsDisplay {
  constructor(channel, services) {
    super(channel, services);
    this.material.vertexColors = true;
    this.by = ""; // "" chooses colours, intensity or height
    this.shownBy = "";
    this.fields = [];
  }

  show(cloud) {
    this.fields = colourFields(cloud);
    const usual = ["rgb", "intensity", "z"].find((name) => this.fields.includes(name));
    const by = this.fields.includes(this.by) ? this.by : (usual ?? this.fields[0]);
    this.shownBy = by;
    const made = unpack(cloud, by, this.inSoftware() ? MOST_IN_SOFTWARE : MOST_POINTS);
    this.set("position", made.positions, 3, Float32Array);
    this.set("color", made.colours, 3, Uint8Array);
    this.finish(made, poseOf(cloud.pose));
  }
}

export class ScanDisplay extends PointsDisplay {
  show(scan) {
    const made = scanPoints(scan);
    this.material.size = 4;
    this.material.color = new Color(colours().series[1]);
    this.set("position", made.positions, 3, Float32Array);
    this.finish(made, poseOf(scan.pose));
    this.note = ""; // missing echoes are usual
  }
}
