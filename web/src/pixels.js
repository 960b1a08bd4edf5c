// Pixels of foxglove.RawImage as red, green, blue and alpha. Pure.

const MOST_SIDE = 8192;
const clamp = (value) => (value < 0 ? 0 : value > 255 ? 255 : value);

// Each function writes one row: (bytes of the row, width, out, offset of out).
const packed = (size, r, g, b, a) => ({
  size,
  row(data, at, width, out, to) {
    for (let i = 0; i < width; ++i, at += size, to += 4) {
      out[to] = data[at + r];
      out[to + 1] = data[at + g];
      out[to + 2] = data[at + b];
      out[to + 3] = a === undefined ? 255 : data[at + a];
    }
  },
});

const yuv = (y0, u, y1, v) => ({
  size: 2,
  row(data, at, width, out, to) {
    for (let i = 0; i + 1 < width; i += 2, at += 4) {
      const cb = data[at + u] - 128;
      const cr = data[at + v] - 128;
      for (const y of [data[at + y0], data[at + y1]]) {
        out[to] = clamp(y + 1.402 * cr);
        out[to + 1] = clamp(y - 0.344 * cb - 0.714 * cr);
        out[to + 2] = clamp(y + 1.772 * cb);
        out[to + 3] = 255;
        to += 4;
      }
    }
  },
});

const GREY = packed(1, 0, 0, 0);
const FORMATS = {
  rgb8: packed(3, 0, 1, 2),
  bgr8: packed(3, 2, 1, 0),
  "8UC3": packed(3, 2, 1, 0),
  rgba8: packed(4, 0, 1, 2, 3),
  bgra8: packed(4, 2, 1, 0, 3),
  "8UC4": packed(4, 2, 1, 0, 3),
  mono8: GREY,
  "8UC1": GREY,
  rgb16: packed(6, 1, 3, 5), // the upper byte of each number
  bgr16: packed(6, 5, 3, 1),
  yuv422: yuv(1, 0, 3, 2),
  uyvy: yuv(1, 0, 3, 2),
  yuv422_yuy2: yuv(0, 1, 2, 3),
  yuyv: yuv(0, 1, 2, 3),
};

const DEPTHS = {
  mono16: ["getUint16", 2],
  "16UC1": ["getUint16", 2],
  "16SC1": ["getInt16", 2],
  "32FC1": ["getFloat32", 4],
  "64FC1": ["getFloat64", 8],
};

// The places of the colours in a square of four: [row of red, column of red].
const BAYER = {
  bayer_rggb8: [0, 0],
  bayer_grbg8: [0, 1],
  bayer_gbrg8: [1, 0],
  bayer_bggr8: [1, 1],
};

// {width, height, rgba}. An error states the problem: an unknown encoding, or data that are too
// short.
export function pixelsOf(image) {
  const { width, height, encoding, data } = image;
  if (width < 1 || height < 1) return { width: 0, height: 0, rgba: new Uint8ClampedArray(0) };
  if (width > MOST_SIDE || height > MOST_SIDE) {
    throw new Error(`${width} × ${height} pixels are more than ${MOST_SIDE} × ${MOST_SIDE}`);
  }
  const format = FORMATS[encoding];
  const depth = DEPTHS[encoding];
  const bayer = BAYER[encoding];
  const size = format?.size ?? depth?.[1] ?? (bayer ? 1 : 0);
  if (size === 0) throw new Error(`the encoding '${encoding}' is unknown`);
  const step = image.step || width * size;
  if (step < width * size || data.length < (height - 1) * step + width * size) {
    throw new Error(`${data.length} bytes are too few for ${width} × ${height} ${encoding}`);
  }
  const rgba = new Uint8ClampedArray(4 * width * height);
  if (format) {
    for (let j = 0; j < height; ++j) format.row(data, j * step, width, rgba, 4 * j * width);
  } else if (depth) {
    depthPixels(data, width, height, step, depth, rgba);
  } else {
    bayerPixels(data, width, height, step, bayer, rgba);
  }
  return { width, height, rgba };
}

// From the smallest to the largest finite value, black to white.
function depthPixels(data, width, height, step, [method, size], rgba) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let low = Infinity;
  let high = -Infinity;
  for (let j = 0; j < height; ++j) {
    for (let i = 0; i < width; ++i) {
      const value = view[method](j * step + i * size, true);
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  const scale = high > low ? 255 / (high - low) : 0;
  for (let j = 0, to = 0; j < height; ++j) {
    for (let i = 0; i < width; ++i, to += 4) {
      const grey = (view[method](j * step + i * size, true) - low) * scale;
      rgba[to] = rgba[to + 1] = rgba[to + 2] = grey;
      rgba[to + 3] = 255;
    }
  }
}

// Each pixel takes the colours of its square of four.
function bayerPixels(data, width, height, step, [row, column], rgba) {
  for (let j = 0, to = 0; j < height; ++j) {
    const top = Math.min(j & ~1, Math.max(0, height - 2));
    for (let i = 0; i < width; ++i, to += 4) {
      const left = Math.min(i & ~1, Math.max(0, width - 2));
      const of = (y, x) => data[(top + y) * step + left + x] ?? 0;
      rgba[to] = of(row, column);
      rgba[to + 1] = (of(row, 1 - column) + of(1 - row, column)) / 2;
      rgba[to + 2] = of(1 - row, 1 - column);
      rgba[to + 3] = 255;
    }
  }
}
