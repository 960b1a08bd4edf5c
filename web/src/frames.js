// The tree of coordinate frames, with a bounded past of each frame. No drawing.

const MOST_PAST = 400; // transforms of one frame
const MOST_FRAMES = 2000;
const MOST_HOPS = 100;
const JUMP_NS = 10_000_000_000n; // the time of the robot has jumped back: its past holds no longer
const STATIC_NAMES = ["map", "odom", "world"];

export const IDENTITY = Object.freeze({ t: [0, 0, 0], q: [0, 0, 0, 1] });

export function rotate(q, v) {
  const [x, y, z, w] = q;
  const [a, b, c] = v;
  const tx = 2 * (y * c - z * b);
  const ty = 2 * (z * a - x * c);
  const tz = 2 * (x * b - y * a);
  return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx];
}

export function product(p, q) {
  const [a, b, c, d] = p;
  const [x, y, z, w] = q;
  return [
    d * x + a * w + b * z - c * y,
    d * y - a * z + b * w + c * x,
    d * z + a * y - b * x + c * w,
    d * w - a * x - b * y - c * z,
  ];
}

export function compose(one, other) {
  const moved = rotate(one.q, other.t);
  return { t: one.t.map((value, i) => value + moved[i]), q: product(one.q, other.q) };
}

export function inverse({ t, q }) {
  const back = [-q[0], -q[1], -q[2], q[3]];
  return { t: rotate(back, t).map((value) => -value), q: back };
}

function between(one, other, share) {
  const t = one.t.map((value, i) => value + share * (other.t[i] - value));
  const dot = one.q.reduce((sum, value, i) => sum + value * other.q[i], 0);
  const sign = dot < 0 ? -1 : 1;
  const q = one.q.map((value, i) => value + share * (sign * other.q[i] - value));
  const size = Math.hypot(...q) || 1;
  return { t, q: q.map((value) => value / size) };
}

const finite = (values) => values.every(Number.isFinite);

// A rotation of any length becomes one of length 1. An unset one is the identity.
export function unit(q) {
  const size = Math.hypot(q.x, q.y, q.z, q.w);
  if (!Number.isFinite(size)) return null;
  if (size < 1e-9) return [0, 0, 0, 1];
  return [q.x / size, q.y / size, q.z / size, q.w / size];
}

export function poseOf(pose) {
  if (!pose) return IDENTITY;
  const p = pose.position ?? { x: 0, y: 0, z: 0 };
  const t = [p.x, p.y, p.z];
  const q = pose.orientation ? unit(pose.orientation) : [0, 0, 0, 1];
  return finite(t) && q ? { t, q } : null;
}

export class Frames {
  constructor() {
    this.clear();
  }

  clear() {
    this.past = new Map(); // frame → {parent, items: [{ns, t, q}]}, in order of time
    this.refused = 0;
    this.version = 0;
  }

  get size() {
    return this.past.size;
  }

  // Adds a foxglove.FrameTransform. Refuses and counts those that are not finite or form a loop.
  add(one, ns) {
    const { parentFrameId: parent, childFrameId: child } = one;
    const p = one.translation ?? { x: 0, y: 0, z: 0 };
    const t = [p.x, p.y, p.z];
    const q = one.rotation ? unit(one.rotation) : [0, 0, 0, 1];
    const known = this.past.has(child) || this.past.size < MOST_FRAMES;
    if (!child || !parent || child === parent || !finite(t) || !q || !known) {
      ++this.refused;
      return;
    }
    let entry = this.past.get(child);
    if (!entry || entry.parent !== parent) {
      if (this.chain(parent).includes(child)) {
        ++this.refused;
        return;
      }
      entry = { parent, items: [] };
      this.past.set(child, entry);
    }
    const newest = entry.items.at(-1);
    if (newest && ns < newest.ns - JUMP_NS) entry.items.length = 0;
    const items = entry.items;
    let place = items.length;
    while (place > 0 && items[place - 1].ns > ns) --place;
    if (place > 0 && items[place - 1].ns === ns) items[place - 1] = { ns, t, q };
    else items.splice(place, 0, { ns, t, q });
    if (items.length > MOST_PAST) items.shift();
    ++this.version;
  }

  // The frame and its ancestors.
  chain(frame) {
    const found = [frame];
    let at = this.past.get(frame);
    while (at && found.length < MOST_HOPS) {
      found.push(at.parent);
      at = this.past.get(at.parent);
    }
    return found;
  }

  names() {
    const all = new Set();
    for (const [child, { parent }] of this.past) all.add(child).add(parent);
    return [...all].sort();
  }

  // The usual fixed frame: map, odom or world, else the root with the most frames.
  usual() {
    const names = new Set(this.names());
    const known = STATIC_NAMES.find((name) => names.has(name));
    if (known) return known;
    const votes = new Map();
    for (const child of this.past.keys()) {
      const root = this.chain(child).at(-1);
      votes.set(root, (votes.get(root) ?? 0) + 1);
    }
    return [...votes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
  }

  // The transform to the parent at a time. Beyond the past, the nearest one holds. null: newest.
  #step(frame, ns) {
    const { items } = this.past.get(frame);
    const last = items[items.length - 1];
    if (ns === null || last.ns <= ns) return last;
    if (items[0].ns >= ns) return items[0];
    let low = 0;
    let high = items.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (items[middle].ns <= ns) low = middle;
      else high = middle;
    }
    const share = Number(ns - items[low].ns) / Number(items[high].ns - items[low].ns);
    return between(items[low], items[high], share);
  }

  // The pose of `frame` in `fixed` at a time: {t, q}, or {error} that names the missing frame.
  lookup(fixed, frame, ns = null) {
    if (fixed === frame) return IDENTITY;
    const up = this.chain(frame);
    const other = this.chain(fixed);
    const common = up.find((name) => other.includes(name));
    if (common === undefined) {
      const unknown = [frame, fixed].find((name) => !this.names().includes(name));
      const reason = unknown ? `no transform of '${unknown}' has come` : "they are not connected";
      return { error: `no transform from '${frame}' to '${fixed}': ${reason}` };
    }
    const along = (chain) =>
      chain
        .slice(0, chain.indexOf(common))
        .reduce((pose, name) => compose(this.#step(name, ns), pose), IDENTITY);
    return compose(inverse(along(other)), along(up));
  }

  // Seconds since the newest transform of each frame, for a table.
  list(nowNs) {
    return [...this.past].map(([frame, { parent, items }]) => ({
      frame,
      parent,
      ageS: Number(nowNs - items[items.length - 1].ns) / 1e9,
    }));
  }
}
