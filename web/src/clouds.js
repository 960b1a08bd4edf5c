// Packed points of foxglove.PointCloud and foxglove.LaserScan as positions and colours. Pure.

export const MOST_POINTS = 2_000_000;

const READERS = {
  1: ["getUint8", 1],
  2: ["getInt8", 1],
  3: ["getUint16", 2],
  4: ["getInt16", 2],
  5: ["getUint32", 4],
  6: ["getInt32", 4],
  7: ["getFloat32", 4],
  8: ["getFloat64", 8],
};

// A function from the index of a point to the number of one field. Throws an error if the field
// extends beyond the point.
function reader(cloud, view, field) {
  const [method, size] = READERS[field.type] ?? [];
  if (!method) throw new Error(`the field '${field.name}' has the unknown type ${field.type}`);
  if (field.offset + size > cloud.pointStride) {
    throw new Error(`the field '${field.name}' extends beyond the point`);
  }
  const { pointStride: stride } = cloud;
  return (i) => view[method](i * stride + field.offset, true);
}

// Colours of numbers from 0 to 1: Turbo (A. Mikhailov, 2019), by its polynomial.
export function turbo(x) {
  const v = Math.min(1, Math.max(0, x));
  const poly = (a) => a.reduceRight((sum, one) => sum * v + one, 0);
  return [
    poly([0.1357, 4.6154, -42.6603, 132.1311, -152.9424, 59.2864]),
    poly([0.0914, 2.1942, 4.843, -14.185, 4.2773, 2.8296]),
    poly([0.1067, 12.6419, -60.582, 110.3627, -89.9031, 27.3482]),
  ].map((one) => Math.min(1, Math.max(0, one)));
}

const PALETTE = Array.from({ length: 256 }, (_, i) =>
  turbo(i / 255).map((one) => Math.round(one * 255)),
);

// The fields by which a cloud can be coloured: "rgb" first if it has colours, then its numbers.
export function colourFields(cloud) {
  const names = cloud.fields.map((one) => one.name);
  const rgb = ["red", "green", "blue"].every((name) => names.includes(name));
  const plain = names.filter((name) => !["red", "green", "blue", "alpha"].includes(name));
  return [...(rgb ? ["rgb"] : []), ...plain];
}

// {positions, colours, size, total, left} of a cloud. `left` counts points that are not finite.
// At most MOST_POINTS are kept, evenly. `by` names the field of the colours.
export function unpack(cloud, by, most = MOST_POINTS) {
  const stride = cloud.pointStride;
  if (!(stride > 0) && cloud.data.length > 0) throw new Error("its points have no size");
  const total = stride > 0 ? Math.floor(cloud.data.length / stride) : 0;
  const view = new DataView(cloud.data.buffer, cloud.data.byteOffset, cloud.data.byteLength);
  const field = (name) => {
    const found = cloud.fields.find((one) => one.name === name);
    return found && reader(cloud, view, found);
  };
  const x = field("x");
  const y = field("y");
  const z = field("z") ?? (() => 0);
  if (!x || !y) throw new Error("it has no fields x and y");
  const step = Math.max(1, Math.ceil(total / most));
  const room = Math.ceil(total / step);
  const positions = new Float32Array(3 * room);
  const kept = new Uint32Array(room);
  let size = 0;
  let left = 0;
  for (let i = 0; i < total; i += step) {
    const a = x(i);
    const b = y(i);
    const c = z(i);
    if (!Number.isFinite(a + b + c)) {
      ++left;
      continue;
    }
    positions[3 * size] = a;
    positions[3 * size + 1] = b;
    positions[3 * size + 2] = c;
    kept[size++] = i;
  }
  const colours = paint(by, field, kept, size);
  return { positions: positions.subarray(0, 3 * size), colours, size, total, left, step };
}

function paint(by, field, kept, size) {
  const colours = new Uint8Array(3 * size);
  if (by === "rgb") {
    const [r, g, b] = ["red", "green", "blue"].map(field);
    for (let n = 0; n < size; ++n) {
      colours[3 * n] = r(kept[n]);
      colours[3 * n + 1] = g(kept[n]);
      colours[3 * n + 2] = b(kept[n]);
    }
    return colours;
  }
  const value = field(by) ?? field("z") ?? field("x");
  const values = new Float32Array(size);
  let low = Infinity;
  let high = -Infinity;
  for (let n = 0; n < size; ++n) {
    const one = value(kept[n]);
    values[n] = one;
    if (one < low) low = one;
    if (one > high) high = one;
  }
  const scale = high > low ? 255 / (high - low) : 0;
  for (let n = 0; n < size; ++n) {
    const index = (values[n] - low) * scale;
    const colour = PALETTE[Number.isFinite(index) ? Math.min(255, Math.max(0, index | 0)) : 0];
    colours.set(colour, 3 * n);
  }
  return colours;
}

// The end points of a scan, in the plane of the sensor.
export function scanPoints(scan, most = MOST_POINTS) {
  const total = scan.ranges.length;
  const step = Math.max(1, Math.ceil(total / most));
  const angle = total > 1 ? (scan.endAngle - scan.startAngle) / (total - 1) : 0;
  const positions = new Float32Array(3 * Math.ceil(total / step));
  let size = 0;
  let left = 0;
  for (let i = 0; i < total; i += step) {
    const range = scan.ranges[i];
    const a = scan.startAngle + i * angle;
    if (!Number.isFinite(range) || !Number.isFinite(a) || range <= 0) {
      ++left;
      continue;
    }
    positions[3 * size] = range * Math.cos(a);
    positions[3 * size + 1] = range * Math.sin(a);
    ++size;
  }
  return { positions: positions.subarray(0, 3 * size), size, total, left, step };
}

const MOST_CELLS = 4096; // of a side

// The colours of a foxglove.Grid, row by row from its origin: {width, height, rgba}.
export function gridPixels(grid) {
  const width = grid.columnCount;
  const { rowStride: row, cellStride: cell, data } = grid;
  const height = row > 0 ? Math.floor(data.length / row) : 0;
  if (width < 1 || height < 1) return { width: 0, height: 0, rgba: new Uint8Array(0) };
  if (cell < 1 || width * cell > row) throw new Error(`a row of ${row} bytes is too short`);
  if (width > MOST_CELLS || height > MOST_CELLS) {
    throw new Error(`${width} × ${height} cells are more than ${MOST_CELLS} × ${MOST_CELLS}`);
  }
  const offset = (name) => grid.fields.find((one) => one.name === name && one.type === 1)?.offset;
  const [r, g, b] = ["red", "green", "blue"].map(offset);
  const a = offset("alpha");
  const first = grid.fields[0];
  const coloured = [r, g, b].every((one) => one !== undefined && one < cell);
  if (!coloured && (!first || first.type > 2)) throw new Error("it has neither colours nor bytes");
  const rgba = new Uint8Array(4 * width * height);
  for (let j = 0, out = 0; j < height; ++j) {
    for (let i = 0, from = j * row; i < width; ++i, from += cell, out += 4) {
      rgba[out] = data[from + (coloured ? r : first.offset)];
      rgba[out + 1] = data[from + (coloured ? g : first.offset)];
      rgba[out + 2] = data[from + (coloured ? b : first.offset)];
      rgba[out + 3] = coloured && a !== undefined ? data[from + a] : 255;
    }
  }
  return { width, height, rgba };
}
