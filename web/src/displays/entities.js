// Markers, as foxglove.SceneUpdate: arrows, cubes, spheres, cylinders, lines, triangles, texts and
// meshes. Updates build on each other, so none is skipped.
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DoubleSide,
  Group,
  InstancedMesh,
  Line,
  LineBasicMaterial,
  LineLoop,
  LineSegments,
  Matrix4,
  Mesh,
  MeshLambertMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "three";
import { poseOf } from "../frames.js";
import { nanoseconds } from "../values.js";
import { Display } from "./display.js";
import { discard, label } from "./shapes.js";

const MOST_ENTITIES = 5000;
const MOST_SHAPES = 200_000; // of one entity
const ALL = 1; // foxglove.SceneEntityDeletion.Type
const BOX = new BoxGeometry(1, 1, 1);
const BALL = new SphereGeometry(0.5, 20, 14);
const TUBE = new CylinderGeometry(0.5, 0.5, 1, 24).rotateX(Math.PI / 2);
const SHAFT = new CylinderGeometry(0.5, 0.5, 1, 16).rotateZ(-Math.PI / 2).translate(0.5, 0, 0);
const HEAD = new ConeGeometry(0.5, 1, 16).rotateZ(-Math.PI / 2).translate(0.5, 0, 0);
const LINES = [Line, LineLoop, LineSegments];

const rgb = (c) => new Color().setRGB(c?.r ?? 1, c?.g ?? 1, c?.b ?? 1, "srgb");
const size = (v) => new Vector3(v?.x ?? 1, v?.y ?? 1, v?.z ?? 1);

function matrix(pose, scale, offset = null) {
  const { t, q } = poseOf(pose) ?? { t: [NaN, 0, 0], q: [0, 0, 0, 1] };
  if (!Number.isFinite(t[0])) throw new Error("a pose is not finite");
  const turn = new Quaternion(...q);
  const place = new Vector3(...t);
  if (offset) place.add(offset.clone().applyQuaternion(turn));
  return new Matrix4().compose(place, turn, scale);
}

// Many solids of one geometry in one draw call.
function solids(geometry, items) {
  const clear = items.some(({ color }) => (color?.a ?? 1) < 0.99);
  const opacity = clear ? Math.max(0.02, items[0].color?.a ?? 1) : 1;
  const material = new MeshLambertMaterial({ transparent: clear, opacity, depthWrite: !clear });
  const mesh = new InstancedMesh(geometry, material, items.length);
  items.forEach(({ at, color }, i) => {
    mesh.setMatrixAt(i, at);
    mesh.setColorAt(i, rgb(color));
  });
  mesh.userData.shared = "geometry";
  mesh.frustumCulled = false;
  return mesh;
}

function arrows(list) {
  const shafts = list.map(({ pose, shaftLength, shaftDiameter, color }) => ({
    at: matrix(pose, new Vector3(shaftLength, shaftDiameter, shaftDiameter)),
    color,
  }));
  const heads = list.map(({ pose, shaftLength, headLength, headDiameter, color }) => ({
    at: matrix(
      pose,
      new Vector3(headLength, headDiameter, headDiameter),
      new Vector3(shaftLength, 0, 0),
    ),
    color,
  }));
  return [solids(SHAFT, shafts), solids(HEAD, heads)];
}

const sized = (list) =>
  list.map(({ pose, size: s, color }) => ({ at: matrix(pose, size(s)), color }));

function buffers({ points, colors, indices, color }) {
  const order = indices.length > 0 ? indices : points.map((_, i) => i);
  if (order.some((i) => i >= points.length)) throw new Error("an index is beyond its points");
  const geometry = new BufferGeometry();
  const positions = order.flatMap((i) => [points[i].x, points[i].y, points[i].z]);
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(positions), 3));
  const own = colors.length === points.length && points.length > 0;
  if (own) {
    const values = order.flatMap((i) => rgb(colors[i]).toArray());
    geometry.setAttribute("color", new BufferAttribute(new Float32Array(values), 3));
  }
  const first = own ? colors[0] : color;
  const alpha = first?.a ?? 1;
  return {
    geometry,
    look: {
      color: own ? new Color(1, 1, 1) : rgb(color),
      vertexColors: own,
      transparent: alpha < 0.99,
      opacity: alpha,
    },
  };
}

function posed(object, pose) {
  matrix(pose, new Vector3(1, 1, 1)).decompose(object.position, object.quaternion, object.scale);
  object.frustumCulled = false;
  return object;
}

function lines(one) {
  const { geometry, look } = buffers(one);
  return posed(new LINES[one.type](geometry, new LineBasicMaterial(look)), one.pose);
}

function triangles(one) {
  const { geometry, look } = buffers(one);
  geometry.computeVertexNormals();
  return posed(
    new Mesh(geometry, new MeshLambertMaterial({ ...look, side: DoubleSide })),
    one.pose,
  );
}

function texts(one) {
  const { r = 1, g = 1, b = 1 } = one.color ?? {};
  const colour = `rgb(${[r, g, b].map((v) => Math.round(255 * v)).join(" ")})`;
  return posed(new Group().add(label(one.text, colour, { metres: one.fontSize || 0.2 })), one.pose);
}

export class EntitiesDisplay extends Display {
  constructor(channel, { meshes, request }) {
    super(channel);
    this.meshes = meshes;
    this.request = request;
    this.loaded = 0; // meshes that are drawn
    this.entities = new Map(); // id → {group, frame, stampNs, endNs, locked}
    this.waiting = [];
    this.nowNs = 0n;
  }

  take(channel, data, timeNs) {
    const update = channel.decode(data);
    if (!update) {
      this.problem = channel.problem;
      return;
    }
    this.problem = "";
    this.note = "";
    ++this.messages;
    this.nowNs = timeNs;
    for (const one of update.deletions) this.#delete(one);
    for (const one of update.entities) this.#add(one, timeNs);
    this.size = this.entities.size;
  }

  #delete({ type, id, timestamp }) {
    const ns = nanoseconds(timestamp) ?? this.nowNs;
    for (const [key, entity] of this.entities) {
      if ((type === ALL || key === id) && entity.stampNs < ns) this.#drop(key);
    }
  }

  #drop(id) {
    const entity = this.entities.get(id);
    if (!entity) return;
    discard(entity.group);
    this.entities.delete(id);
  }

  #add(one, timeNs) {
    this.#drop(one.id);
    if (this.entities.size >= MOST_ENTITIES) {
      this.note = `only ${MOST_ENTITIES} markers are shown`;
      return;
    }
    const group = new Group();
    try {
      this.#fill(group, one);
    } catch (error) {
      this.problem = `marker '${one.id}' cannot be drawn: ${error.message}`;
      return;
    }
    const lifetime = nanoseconds(one.lifetime) ?? 0n;
    this.entities.set(one.id, {
      group,
      frame: one.frameId,
      stampNs: nanoseconds(one.timestamp) ?? timeNs,
      endNs: lifetime > 0n ? timeNs + lifetime : null,
      locked: one.frameLocked,
    });
    this.group.add(group);
  }

  #fill(group, one) {
    const count = ["arrows", "cubes", "spheres", "cylinders"].reduce(
      (sum, kind) => sum + one[kind].length,
      0,
    );
    if (count > MOST_SHAPES) throw new Error(`${count} shapes are too many`);
    if (one.arrows.length > 0) group.add(...arrows(one.arrows));
    if (one.cubes.length > 0) group.add(solids(BOX, sized(one.cubes)));
    if (one.spheres.length > 0) group.add(solids(BALL, sized(one.spheres)));
    if (one.cylinders.length > 0) group.add(solids(TUBE, sized(one.cylinders)));
    for (const line of one.lines) group.add(lines(line));
    for (const list of one.triangles) group.add(triangles(list));
    for (const text of one.texts) group.add(texts(text));
    for (const model of one.models) this.#model(group, one.id, model);
  }

  #model(group, id, { pose, scale, color, overrideColor, url, mediaType, data }) {
    const { r = 1, g = 1, b = 1, a = 1 } = color ?? {};
    const place = matrix(pose, size(scale));
    const told = (text) => {
      this.note = `marker '${id}': ${text}`;
    };
    this.meshes.put(
      { uri: url, media: mediaType, data },
      { colour: [r, g, b, a], force: overrideColor },
      (object, lost) => {
        place.decompose(object.position, object.quaternion, object.scale);
        group.add(object);
        ++this.loaded;
        if (lost.length > 0 && !overrideColor) told(`texture '${lost[0]}' is missing`);
        this.request();
      },
      (error) => {
        told(`mesh '${url || mediaType}': ${error.message}`);
        this.request();
      },
    );
  }

  update(view) {
    this.group.visible = true;
    this.missing = "";
    for (const [id, entity] of this.entities) {
      if (entity.endNs !== null && this.nowNs > entity.endNs) {
        this.#drop(id);
        continue;
      }
      const pose = view.locate(entity.frame, entity.locked ? null : entity.stampNs);
      entity.group.visible = !pose.error;
      if (pose.error) {
        this.missing = pose.error;
        continue;
      }
      entity.group.position.set(...pose.t);
      entity.group.quaternion.set(...pose.q);
    }
    this.size = this.entities.size;
  }

  clear() {
    super.clear();
    for (const id of [...this.entities.keys()]) this.#drop(id);
  }
}
