// The frames: axes, names and lines to their parents. Every message counts, so none is skipped.
import { BufferAttribute, BufferGeometry, Color, LineBasicMaterial, LineSegments } from "three";
import { colours } from "../dom.js";
import { nanoseconds } from "../values.js";
import { Display } from "./display.js";
import { Axes, discard, label } from "./shapes.js";

const MOST_NAMES = 100;

export class TransformsDisplay extends Display {
  constructor(channel, { frames }) {
    super(channel);
    this.frames = frames;
  }

  take(channel, data, timeNs) {
    const message = channel.decode(data);
    if (!message) {
      this.problem = channel.problem;
      return;
    }
    const refused = this.frames.refused;
    for (const one of message.transforms ?? [message]) {
      this.frames.add(one, nanoseconds(one.timestamp) ?? timeNs);
    }
    ++this.messages;
    this.size = message.transforms?.length ?? 1;
    this.problem = "";
    const count = this.frames.refused - refused;
    this.note = count > 0 ? `${count} transforms are refused: not finite, or a loop` : "";
  }

  update() {}
}

// One picture of all frames, whatever channel they come from.
export class FramesDisplay extends Display {
  constructor(frames) {
    super({ topic: "", skipped: 0 });
    this.frames = frames;
    this.axes = new Axes(0.3);
    this.lines = new LineSegments(new BufferGeometry(), new LineBasicMaterial());
    this.lines.frustumCulled = false;
    this.names = new Map(); // frame → sprite
    this.group.add(this.axes.object, this.lines);
    this.shown = "";
  }

  update(view) {
    const key = `${this.frames.version} ${view.fixed}`;
    if (key === this.shown) return;
    this.shown = key;
    const poses = [];
    const lines = [];
    const seen = new Set();
    for (const frame of this.frames.names()) {
      const pose = view.locate(frame, null);
      if (pose.error) continue;
      poses.push(pose);
      seen.add(frame);
      this.#name(frame, pose);
      const parent = this.frames.past.get(frame)?.parent;
      const other = parent && view.locate(parent, null);
      if (other && !other.error) lines.push(...pose.t, ...other.t);
    }
    this.axes.set(poses);
    this.lines.material.color = new Color(colours().dim);
    this.lines.geometry.dispose();
    this.lines.geometry.setAttribute("position", new BufferAttribute(new Float32Array(lines), 3));
    for (const [frame, sprite] of this.names) {
      if (seen.has(frame)) continue;
      discard(sprite);
      this.names.delete(frame);
    }
    this.size = poses.length;
  }

  #name(frame, pose) {
    let sprite = this.names.get(frame);
    if (!sprite && this.names.size < MOST_NAMES) {
      const { text, back } = colours();
      sprite = label(frame, text, { halo: back });
      this.names.set(frame, sprite);
      this.group.add(sprite);
    }
    sprite?.position.set(...pose.t);
  }

  recolour() {
    for (const sprite of this.names.values()) discard(sprite);
    this.names.clear();
    this.shown = "";
  }

  clear() {
    this.shown = "";
  }
}
