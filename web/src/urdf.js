// Reads a URDF: links with their shapes, and joints. Bounded, and problems are listed.
import { IDENTITY, compose } from "./frames.js";

const MOST_LINKS = 2000;
const MOST_TEXT = 8 << 20;

const numbers = (text, count, usual) => {
  const found = (text ?? "").trim().split(/\s+/).map(Number);
  return found.length === count && found.every(Number.isFinite) ? found : usual;
};

// Rotation of fixed-axis roll, pitch and yaw.
export function quaternion([roll, pitch, yaw]) {
  const [cr, cp, cy] = [roll, pitch, yaw].map((one) => Math.cos(one / 2));
  const [sr, sp, sy] = [roll, pitch, yaw].map((one) => Math.sin(one / 2));
  return [
    sr * cp * cy - cr * sp * sy,
    cr * sp * cy + sr * cp * sy,
    cr * cp * sy - sr * sp * cy,
    cr * cp * cy + sr * sp * sy,
  ];
}

const children = (node, name) => [...(node?.children ?? [])].filter((one) => one.tagName === name);
const child = (node, name) => children(node, name)[0];

function origin(node) {
  const found = child(node, "origin");
  if (!found) return IDENTITY;
  return {
    t: numbers(found.getAttribute("xyz"), 3, [0, 0, 0]),
    q: quaternion(numbers(found.getAttribute("rpy"), 3, [0, 0, 0])),
  };
}

function geometry(node) {
  const shape = [...(child(node, "geometry")?.children ?? [])][0];
  const number = (name) => Number(shape.getAttribute(name)) || 0;
  switch (shape?.tagName) {
    case "box":
      return { kind: "box", size: numbers(shape.getAttribute("size"), 3, [1, 1, 1]) };
    case "sphere":
      return { kind: "sphere", radius: number("radius") };
    case "cylinder":
    case "capsule":
      return { kind: shape.tagName, radius: number("radius"), length: number("length") };
    case "mesh":
      return {
        kind: "mesh",
        uri: shape.getAttribute("filename") ?? "",
        scale: numbers(shape.getAttribute("scale"), 3, [1, 1, 1]),
      };
    default:
      return null;
  }
}

// {name, root, links: [{name, visuals}], joints, problems} of a document. Throws an error with the
// reason if it is no robot.
export function parseUrdf(text) {
  if (text.length > MOST_TEXT) throw new Error(`the URDF has more than ${MOST_TEXT >> 20} MB`);
  const file = new DOMParser().parseFromString(text, "text/xml");
  const fault = file.querySelector("parsererror");
  if (fault) throw new Error(`the URDF is no valid XML: ${fault.textContent.trim().slice(0, 160)}`);
  const robot = file.documentElement;
  if (robot.tagName !== "robot") throw new Error(`its root is <${robot.tagName}>, not <robot>`);
  const problems = [];
  const materials = new Map();
  const colour = (material) => {
    const own = numbers(child(material, "color")?.getAttribute("rgba"), 4, null);
    if (own && material.getAttribute("name")) materials.set(material.getAttribute("name"), own);
    return own ?? materials.get(material?.getAttribute("name")) ?? [0.78, 0.8, 0.83, 1];
  };
  for (const one of children(robot, "material")) colour(one);
  const links = children(robot, "link")
    .slice(0, MOST_LINKS)
    .map((link) => ({
      name: link.getAttribute("name") ?? "",
      visuals: children(link, "visual").flatMap((visual) => {
        const shape = geometry(visual);
        if (shape)
          return [{ shape, origin: origin(visual), colour: colour(child(visual, "material")) }];
        problems.push(`link '${link.getAttribute("name")}' has a visual without a known shape`);
        return [];
      }),
    }));
  const joints = children(robot, "joint")
    .slice(0, MOST_LINKS)
    .map((joint) => {
      const mimic = child(joint, "mimic");
      return {
        name: joint.getAttribute("name") ?? "",
        type: joint.getAttribute("type") ?? "fixed",
        parent: child(joint, "parent")?.getAttribute("link") ?? "",
        child: child(joint, "child")?.getAttribute("link") ?? "",
        origin: origin(joint),
        axis: numbers(child(joint, "axis")?.getAttribute("xyz"), 3, [1, 0, 0]),
        mimic: mimic && {
          joint: mimic.getAttribute("joint"),
          factor: Number(mimic.getAttribute("multiplier") ?? 1),
          offset: Number(mimic.getAttribute("offset") ?? 0),
        },
      };
    });
  const names = new Set(links.map(({ name }) => name));
  for (const { name, parent, child: below } of joints) {
    for (const link of [parent, below]) {
      if (!names.has(link)) problems.push(`joint '${name}' names the unknown link '${link}'`);
    }
  }
  const below = new Set(joints.map((joint) => joint.child));
  const roots = links.filter(({ name }) => !below.has(name));
  if (links.length > 0 && roots.length === 0)
    problems.push("the joints form a loop, so no link is the root");
  return {
    name: robot.getAttribute("name") ?? "",
    root: roots[0]?.name ?? "",
    links,
    joints,
    problems,
  };
}

// The motion of a joint at a position.
export function jointPose(joint, position) {
  const size = Math.hypot(...joint.axis) || 1;
  const axis = joint.axis.map((one) => one / size);
  if (joint.type === "prismatic") {
    return compose(joint.origin, { t: axis.map((one) => one * position), q: [0, 0, 0, 1] });
  }
  if (joint.type === "revolute" || joint.type === "continuous") {
    const s = Math.sin(position / 2);
    return compose(joint.origin, {
      t: [0, 0, 0],
      q: [...axis.map((one) => one * s), Math.cos(position / 2)],
    });
  }
  return joint.origin;
}

// The poses of all links from those of some, along the joints: Map of name → {t, q}.
export function placeLinks(model, known, positions) {
  const poses = new Map(known);
  let added = true;
  while (added) {
    added = false;
    for (const joint of model.joints) {
      const parent = poses.get(joint.parent);
      if (!parent || poses.has(joint.child)) continue;
      const { mimic } = joint;
      const position = mimic
        ? mimic.factor * (positions.get(mimic.joint) ?? 0) + mimic.offset
        : (positions.get(joint.name) ?? 0);
      poses.set(joint.child, compose(parent, jointPose(joint, position)));
      added = true;
    }
  }
  return poses;
}
