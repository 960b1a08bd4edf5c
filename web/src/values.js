// Decoded messages as plain values: members by path, rows of a tree, and numbers.

export const MOST_ROWS = 2000; // of a tree
const MOST_ITEMS = 100; // of a list
const MOST_TEXT = 2000; // characters

// protobuf's snake_case is camelCase in decoded messages.
export const memberName = (name) =>
  name.replace(/_+([a-z0-9])/g, (_, letter) => letter.toUpperCase());
export const fieldName = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

// The value at "pose.position.x" or "ranges[3]", or undefined.
export function at(message, path) {
  let value = message;
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (value === null || value === undefined) return undefined;
    value = index === undefined ? (value[memberName(name)] ?? value[name]) : value[Number(index)];
  }
  return value;
}

// A number, or NaN.
export function number(value) {
  if (typeof value === "number") return value;
  if (typeof value === "bigint" || typeof value === "boolean") return Number(value);
  return NaN;
}

// Nanoseconds of a google.protobuf.Timestamp or Duration, or null.
export function nanoseconds(stamp) {
  if (!stamp || stamp.seconds === undefined) return null;
  return BigInt(stamp.seconds) * 1_000_000_000n + BigInt(stamp.nanos ?? 0);
}

function leaf(value) {
  if (typeof value === "string") {
    const cut = value.length > MOST_TEXT ? `${value.slice(0, MOST_TEXT)}…` : value;
    return JSON.stringify(cut);
  }
  if (value instanceof Uint8Array) return `${value.length.toLocaleString("en")} bytes`;
  if (typeof value === "number" && !Number.isInteger(value)) return String(+value.toPrecision(9));
  return String(value);
}

const isBranch = (value) =>
  value !== null && typeof value === "object" && !(value instanceof Uint8Array);

// The rows of a tree: {depth, name, path, text, isNumber}. `open(path)` decides about lists with
// more than ten elements. Bounded, and the last row states omissions.
export function rows(message, open = () => true) {
  const found = [];
  const add = (name, path, value, depth) => {
    if (found.length >= MOST_ROWS) return;
    if (!isBranch(value)) {
      found.push({ depth, name, path, text: leaf(value), isNumber: !Number.isNaN(number(value)) });
      return;
    }
    const list = Array.isArray(value) || ArrayBuffer.isView(value);
    const members = list ? [] : Object.entries(value).filter(([key]) => !key.startsWith("$"));
    const size = list ? value.length : members.length;
    const shut = list && size > 10 && !open(path);
    const text = list ? `${size.toLocaleString("en")} elements` : "";
    found.push({ depth, name, path, text, branch: true, shut, list });
    if (shut) return;
    if (list) {
      for (let i = 0; i < Math.min(size, MOST_ITEMS); ++i)
        add(`[${i}]`, `${path}[${i}]`, value[i], depth + 1);
      if (size > MOST_ITEMS) {
        const text = `${(size - MOST_ITEMS).toLocaleString("en")} more`;
        found.push({ depth: depth + 1, name: "…", path: "", text });
      }
      return;
    }
    for (const [key, one] of members) {
      const label = fieldName(key);
      add(label, path ? `${path}.${label}` : label, one, depth + 1);
    }
  };
  if (!isBranch(message)) return [{ depth: 0, name: "", path: "", text: leaf(message) }];
  for (const [key, one] of Object.entries(message)) {
    if (!key.startsWith("$")) add(fieldName(key), fieldName(key), one, 0);
  }
  if (found.length >= MOST_ROWS) {
    found.push({ depth: 0, name: "…", path: "", text: `only ${MOST_ROWS} rows are shown` });
  }
  return found;
}

// 1234 → "1,234", 12.3 MB/s, 1.5 s: texts of tables.
export const count = (value) => Math.round(value).toLocaleString("en");
export function bytes(value) {
  for (const [limit, unit] of [
    [1e3, "B"],
    [1e6, "kB"],
    [1e9, "MB"],
  ]) {
    if (value < limit) return `${+(value / (limit / 1e3)).toPrecision(3)} ${unit}`;
  }
  return `${+(value / 1e9).toPrecision(3)} GB`;
}
export function duration(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")} min`;
}
