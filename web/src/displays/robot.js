// The robot model: a URDF at the poses of its frames, or by joint states where no frame comes.
import {
  BoxGeometry,
  CapsuleGeometry,
  Color,
  CylinderGeometry,
  Group,
  Mesh,
  MeshLambertMaterial,
  SphereGeometry,
} from "three";
import { parseUrdf, placeLinks } from "../urdf.js";
import { Display } from "./display.js";
import { discard } from "./shapes.js";

const UPRIGHT = Math.PI / 2; // three.js has cylinders along y, URDF along z

function solid(shape) {
  switch (shape.kind) {
    case "box":
      return new BoxGeometry(...shape.size);
    case "sphere":
      return new SphereGeometry(shape.radius, 24, 16);
    case "cylinder":
      return new CylinderGeometry(shape.radius, shape.radius, shape.length, 32).rotateX(UPRIGHT);
    default:
      return new CapsuleGeometry(shape.radius, shape.length, 8, 24).rotateX(UPRIGHT);
  }
}

export class RobotDisplay extends Display {
  constructor(channel, { meshes, request }) {
    super(channel);
    this.meshes = meshes;
    this.request = request;
    this.model = null;
    this.text = "";
    this.links = new Map(); // name → group
    this.positions = new Map(); // of joints
    this.problems = [];
    this.loaded = 0; // meshes that are drawn
  }

  joints({ joints }) {
    for (const { name, position } of joints) {
      if (Number.isFinite(position)) this.positions.set(name, position);
    }
  }

  show({ data }) {
    if (data === this.text) return;
    const model = parseUrdf(data);
    this.text = data;
    this.model = model;
    this.problems = [...model.problems];
    for (const group of this.links.values()) discard(group);
    this.links.clear();
    for (const link of model.links) {
      const group = new Group();
      for (const visual of link.visuals) this.#add(group, visual);
      this.links.set(link.name, group);
      this.group.add(group);
    }
    this.size = model.links.length;
  }

  #add(group, { shape, origin, colour: [r, g, b, a] }) {
    const { problems } = this; // those of this model
    const place = (object, scale) => {
      object.position.set(...origin.t);
      object.quaternion.set(...origin.q);
      if (scale) object.scale.set(...scale);
      group.add(object);
      this.request();
    };
    if (shape.kind !== "mesh") {
      const material = new MeshLambertMaterial({
        color: new Color().setRGB(r, g, b, "srgb"),
        transparent: a < 0.99,
        opacity: a,
      });
      place(new Mesh(solid(shape), material));
      return;
    }
    this.meshes.put(
      { uri: shape.uri },
      { colour: [r, g, b, a] },
      (object, lost) => {
        ++this.loaded;
        if (lost.length > 0)
          problems.push(`mesh '${shape.uri}': texture '${lost[0]}' is missing`);
        place(object, shape.scale);
      },
      (error) => {
        problems.push(`mesh '${shape.uri}': ${error.message}`);
        this.request();
      },
    );
  }

  place(view) {
    this.group.visible = this.model !== null;
    this.missing = "";
    if (!this.model) return;
    const known = new Map();
    for (const name of this.links.keys()) {
      if (!view.frames.past.has(name) && name !== view.fixed) continue;
      const pose = view.locate(name, null);
      if (!pose.error) known.set(name, pose);
    }
    if (known.size === 0) known.set(this.model.root, { t: [0, 0, 0], q: [0, 0, 0, 1] });
    const poses = placeLinks(this.model, known, this.positions);
    for (const [name, group] of this.links) {
      const pose = poses.get(name);
      group.visible = pose !== undefined;
      if (!pose) continue;
      group.position.set(...pose.t);
      group.quaternion.set(...pose.q);
    }
    const lost = this.links.size - poses.size;
    const notes = [...this.problems.slice(0, 3)];
    if (this.problems.length > 3) notes.push(`${this.problems.length - 3} more problems`);
    if (lost > 0) notes.push(`${lost} links have no place`);
    this.note = notes.join("; ");
  }

  clear() {
    this.pending = null;
  }
}
