// The parts of the page that need neither a browser nor packages: node --test web/test/
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { beside, namesIn } from "../src/beside.js";
import { imagePlane } from "../src/calibration.js";
import { colourFields, gridPixels, scanPoints, turbo, unpack } from "../src/clouds.js";
import { Frames, compose, inverse, rotate, unit } from "../src/frames.js";
import { pixelsOf } from "../src/pixels.js";
import { parseBinary, playbackRequest, stampOf } from "../src/protocol.js";
import { Series, ticks } from "../src/series.js";
import { load, save } from "../src/settings.js";
import { MOST_ROWS, at, bytes, duration, nanoseconds, rows } from "../src/values.js";

const close = (one, other, text) =>
  one.forEach((value, i) =>
    assert.ok(Math.abs(value - other[i]) < 1e-9, `${text}: ${one} ${other}`),
  );

const message = (...parts) => Uint8Array.from(parts.flat()).buffer;

test("messages, times and states of playback are parsed", () => {
  const data = parseBinary(message(1, [7, 0, 0, 0], [1, 2, 0, 0, 0, 0, 0, 0], [9, 8]));
  assert.equal(data.subscription, 7);
  assert.equal(data.timeNs, 513n);
  assert.deepEqual([...data.data], [9, 8]);
  assert.equal(parseBinary(message(2, [5, 0, 0, 0, 0, 0, 0, 0])).timeNs, 5n);
  const state = parseBinary(
    message(5, 1, [4, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 64], 1, [0, 0, 0, 0]),
  );
  assert.deepEqual(
    [state.status, state.timeNs, state.speed, state.didSeek],
    ["paused", 4n, 2, true],
  );
  assert.equal(parseBinary(message(99)).kind, "unknown");
});

test("messages that are too short are errors", () => {
  for (const opcode of [1, 2, 4, 5])
    assert.throws(() => parseBinary(message(opcode, 0)), RangeError);
  assert.throws(() => parseBinary(new ArrayBuffer(0)), RangeError);
});

test("files and refusals of files are parsed", () => {
  const good = parseBinary(message(4, [3, 0, 0, 0], 0, [0, 0, 0, 0], [1, 2]));
  assert.deepEqual([good.request, [...good.data]], [3, [1, 2]]);
  const bad = parseBinary(message(4, [3, 0, 0, 0], 1, [2, 0, 0, 0], [110, 111]));
  assert.equal(bad.error, "no");
});

test("a request for playback has the layout of the protocol", () => {
  const view = new DataView(playbackRequest({ play: false, speed: 1.5, seekNs: 258n, id: "ab" }));
  assert.equal(view.byteLength, 21);
  assert.deepEqual([view.getUint8(0), view.getUint8(1), view.getFloat32(2, true)], [3, 1, 1.5]);
  assert.deepEqual(
    [view.getUint8(6), view.getBigUint64(7, true), view.getUint32(15, true)],
    [1, 258n, 2],
  );
  assert.equal(stampOf({ sec: 2, nsec: 5 }), 2_000_000_005n);
  assert.equal(stampOf(undefined), null);
});

test("rotations and poses have inverses", () => {
  const q = unit({ x: 1, y: 2, z: -3, w: 4 });
  const pose = { t: [1, -2, 3], q };
  const none = compose(pose, inverse(pose));
  close(none.t, [0, 0, 0], "place");
  close(none.q, [0, 0, 0, 1], "rotation");
  const half = Math.SQRT1_2;
  close(rotate([0, 0, half, half], [1, 0, 0]), [0, 1, 0], "a quarter turn about z");
  assert.equal(unit({ x: NaN, y: 0, z: 0, w: 1 }), null);
  assert.deepEqual(unit({ x: 0, y: 0, z: 0, w: 0 }), [0, 0, 0, 1]);
});

const link = (parentFrameId, childFrameId, x, q = { x: 0, y: 0, z: 0, w: 1 }) => ({
  parentFrameId,
  childFrameId,
  translation: { x, y: 0, z: 0 },
  rotation: q,
});

test("frames are looked up through their common parent, at a time", () => {
  const frames = new Frames();
  frames.add(link("map", "base", 1), 100n);
  frames.add(link("map", "base", 3), 300n);
  frames.add(link("base", "laser", 0.5), 0n);
  frames.add(link("map", "dock", -1), 0n);
  close(frames.lookup("map", "laser").t, [3.5, 0, 0], "newest");
  close(frames.lookup("map", "laser", 200n).t, [2.5, 0, 0], "between");
  close(frames.lookup("map", "laser", 50n).t, [1.5, 0, 0], "before the first");
  close(frames.lookup("dock", "laser", 100n).t, [2.5, 0, 0], "over the parent");
  close(frames.lookup("laser", "map", 100n).t, [-1.5, 0, 0], "back");
  assert.equal(frames.usual(), "map");
  assert.match(frames.lookup("map", "arm").error, /'arm'/);
  frames.add(link("sea", "ship", 0), 0n);
  assert.match(frames.lookup("map", "ship").error, /not connected/);
});

test("loops, foreign numbers and too many frames are refused and counted", () => {
  const frames = new Frames();
  frames.add(link("a", "b", 0), 0n);
  frames.add(link("b", "a", 0), 0n);
  frames.add(link("c", "c", 0), 0n);
  frames.add(link("a", "d", NaN), 0n);
  frames.add(link("a", "e", 0, { x: Infinity, y: 0, z: 0, w: 1 }), 0n);
  assert.equal(frames.refused, 4);
  assert.deepEqual(frames.names(), ["a", "b"]);
  for (let i = 0; i < 3000; ++i) frames.add(link("a", `f${i}`, 0), 0n);
  assert.equal(frames.size, 2000);
  for (let i = 0; i < 1000; ++i) frames.add(link("a", "b", i), BigInt(i));
  assert.equal(frames.past.get("b").items.length, 400);
});

test("a jump back in time forgets the past of a frame", () => {
  const frames = new Frames();
  for (const ns of [100_000_000_000n, 101_000_000_000n]) frames.add(link("map", "base", 1), ns);
  frames.add(link("map", "base", 9), 100_500_000_000n); // late, but no jump
  close(frames.lookup("map", "base").t, [1, 0, 0], "newest");
  frames.add(link("map", "base", 5), 3n);
  close(frames.lookup("map", "base").t, [5, 0, 0], "after the jump");
  assert.equal(frames.past.get("base").items.length, 1);
});

// Numbers that look random, and are the same in each run.
function* noise(seed) {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state >>> 8;
  }
}

test("no input makes a parser hang, grow or fail in another way than by an error", () => {
  const random = noise(7);
  const next = (most) => random.next().value % most;
  const some = (size) => Uint8Array.from({ length: size }, () => next(256));
  const encodings = ["rgb8", "mono16", "32FC1", "bayer_gbrg8", "yuyv", "bgra8", "64FC1", "no"];
  for (let i = 0; i < 3000; ++i) {
    const data = some(next(200));
    const sizes = [0, 1, 2, 7, 16, 300, 4096, 2 ** 32 - 1];
    const size = () => sizes[next(sizes.length)];
    const field = (name) => ({ name, offset: size(), type: next(12) });
    const cases = [
      () => parseBinary(data.buffer),
      () => unpack({ pointStride: size(), fields: ["x", "y", "z"].map(field), data }, "z", 50),
      () =>
        gridPixels({
          columnCount: size(),
          rowStride: size(),
          cellStride: size(),
          fields: ["red", "green", "blue", "alpha"].slice(next(4)).map(field),
          data,
        }),
      () =>
        pixelsOf({
          width: size(),
          height: size(),
          step: size(),
          encoding: encodings[next(encodings.length)],
          data,
        }),
    ];
    for (const one of cases) {
      try {
        one();
      } catch (error) {
        assert.ok(error instanceof Error && error.message.length > 3, String(error));
        assert.ok(!(error instanceof TypeError), error.stack);
      }
    }
  }
});

function cloud(points, more = {}) {
  const data = new Uint8Array(16 * points.length);
  const view = new DataView(data.buffer);
  points.forEach((point, i) =>
    point.forEach((value, j) => view.setFloat32(16 * i + 4 * j, value, true)),
  );
  const fields = ["x", "y", "z", "intensity"].map((name, i) => ({ name, offset: 4 * i, type: 7 }));
  return { pointStride: 16, fields, data, ...more };
}

test("points are unpacked, and those that are not finite are counted", () => {
  const made = unpack(
    cloud([
      [1, 2, 3, 0],
      [NaN, 0, 0, 0],
      [4, 5, 6, 1],
    ]),
    "intensity",
  );
  assert.deepEqual([...made.positions], [1, 2, 3, 4, 5, 6]);
  assert.deepEqual([made.size, made.total, made.left], [2, 3, 1]);
  const low = [...made.colours.subarray(0, 3)];
  const high = [...made.colours.subarray(3)];
  assert.deepEqual(
    low,
    turbo(0).map((one) => Math.round(255 * one)),
  );
  assert.deepEqual(
    high,
    turbo(1).map((one) => Math.round(255 * one)),
  );
});

test("large clouds are thinned evenly", () => {
  const points = Array.from({ length: 100 }, (_, i) => [i, 0, 0, 0]);
  const made = unpack(cloud(points), "x", 25);
  assert.deepEqual([made.size, made.step, made.total], [25, 4, 100]);
  assert.equal(made.positions[3], 4);
});

test("clouds whose sizes lie are errors", () => {
  assert.throws(() => unpack(cloud([[0, 0, 0, 0]], { pointStride: 0 }), "x"), /no size/);
  assert.throws(() => unpack(cloud([[0, 0, 0, 0]], { fields: [] }), "x"), /no fields x and y/);
  assert.throws(() => unpack(cloud([[0, 0, 0, 0]], { pointStride: 8 }), "x"), /beyond the point/);
  const odd = cloud([[0, 0, 0, 0]]);
  odd.fields[1].type = 77;
  assert.throws(() => unpack(odd, "x"), /unknown type 77/);
  assert.deepEqual(colourFields(cloud([])), ["x", "y", "z", "intensity"]);
  assert.equal(unpack(cloud([]), "x").size, 0);
});

test("scans become points, and directions without an echo are left out", () => {
  const made = scanPoints({ startAngle: 0, endAngle: Math.PI, ranges: [1, Infinity, 2] });
  assert.deepEqual([made.size, made.left], [2, 1]);
  close(
    [...made.positions].map((one) => Math.round(one * 1e6) / 1e6),
    [1, 0, 0, -2, 0, 0],
    "points",
  );
  assert.equal(scanPoints({ startAngle: 0, endAngle: 0, ranges: [] }).size, 0);
});

test("grids become pixels", () => {
  const fields = ["red", "green", "blue", "alpha"].map((name, offset) => ({
    name,
    offset,
    type: 1,
  }));
  const data = Uint8Array.from([1, 2, 3, 4, 0, 5, 6, 7, 8, 0]);
  const grid = { columnCount: 2, rowStride: 10, cellStride: 5, fields, data };
  assert.deepEqual(gridPixels(grid), {
    width: 2,
    height: 1,
    rgba: Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]),
  });
  assert.equal(gridPixels({ ...grid, data: new Uint8Array(0) }).height, 0);
  assert.throws(() => gridPixels({ ...grid, cellStride: 6 }), /too short/);
  assert.throws(
    () => gridPixels({ ...grid, columnCount: 9000, rowStride: 45000, data: new Uint8Array(45000) }),
    /more than/,
  );
});

test("images of every encoding become pixels", () => {
  const image = (encoding, data, more = {}) => ({
    width: 2,
    height: 1,
    encoding,
    step: 0,
    data: Uint8Array.from(data),
    ...more,
  });
  const first = (one) => [...pixelsOf(one).rgba.subarray(0, 4)];
  assert.deepEqual(first(image("rgb8", [1, 2, 3, 4, 5, 6])), [1, 2, 3, 255]);
  assert.deepEqual(first(image("bgr8", [1, 2, 3, 4, 5, 6])), [3, 2, 1, 255]);
  assert.deepEqual(first(image("bgra8", [1, 2, 3, 4, 5, 6, 7, 8])), [3, 2, 1, 4]);
  assert.deepEqual(first(image("mono8", [9, 8])), [9, 9, 9, 255]);
  assert.deepEqual(first(image("rgb16", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6])), [1, 2, 3, 255]);
  assert.deepEqual(
    [...pixelsOf(image("16UC1", [0, 0, 255, 255])).rgba],
    [0, 0, 0, 255, 255, 255, 255, 255],
  );
  assert.deepEqual(first(image("yuyv", [100, 128, 100, 128])), [100, 100, 100, 255]);
  const bayer = image("bayer_rggb8", [10, 20, 30, 40], { height: 2 });
  assert.deepEqual(first(bayer), [10, 25, 40, 255]);
  assert.throws(() => pixelsOf(image("rgb8", [1])), /too few/);
  assert.throws(() => pixelsOf(image("rgb8", [1, 2, 3, 4, 5, 6], { step: 3 })), /too few/);
  assert.throws(() => pixelsOf(image("jpeg2000", [1])), /unknown/);
  assert.throws(() => pixelsOf(image("mono8", [], { width: 1e6 })), /more than/);
  assert.equal(pixelsOf(image("mono8", [], { width: 0 })).width, 0);
});

test("an image has its place in front of the camera", () => {
  const K = [100, 0, 80, 0, 100, 60, 0, 0, 1];
  const middle = imagePlane({ width: 160, height: 120, K }, 2);
  assert.deepEqual(middle, { x: 0, y: 0, width: 3.2, height: 2.4 });
  const shifted = imagePlane({ width: 160, height: 120, K: [100, 0, 60, 0, 100, 60, 0, 0, 1] }, 1);
  assert.equal(shifted.x, 0.2);
  assert.equal(imagePlane({ width: 160, height: 120, K: new Array(9).fill(0) }, 1), null);
  assert.equal(imagePlane({ width: 160, height: 120, K: [] }, 1), null);
});

test("choices are kept, and damaged or refused ones are left out", () => {
  const kept = new Map();
  const storage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
  };
  save("rover", { plots: ["a:b"] }, storage);
  assert.deepEqual(load("rover", storage), { plots: ["a:b"] });
  assert.deepEqual(load("other", storage), {});
  for (const text of ["{", "null", "[1]", "3"]) {
    kept.set("hyphos view rover", text);
    assert.deepEqual(load("rover", storage), {});
  }
  save("rover", { text: "x".repeat(200_000) }, storage);
  assert.equal(kept.get("hyphos view rover"), "3");
  const refusing = {
    getItem() {
      throw new Error("denied");
    },
    setItem() {
      throw new Error("denied");
    },
  };
  save("rover", {}, refusing);
  assert.deepEqual(load("rover", refusing), {});
});

test("a series is bounded, and keeps the newest samples in order", () => {
  const series = new Series(3000);
  for (let i = 0; i < 5000; ++i) series.add(i / 100, i);
  assert.deepEqual([series.size, series.forgotten], [3000, 2000]);
  assert.equal(series.value(0), 2000);
  assert.equal(series.value(2999), 4999);
  assert.equal(series.from(30), 1000);
  series.add(1, 7);
  assert.deepEqual([series.size, series.value(0)], [1, 7]);
});

test("columns keep minima and maxima, and leave out numbers that are not finite", () => {
  const series = new Series();
  for (let i = 0; i < 1000; ++i) series.add(i / 1000, i === 500 ? 99 : i === 501 ? NaN : i % 2);
  const columns = series.columns(0, 1, 10);
  assert.ok(columns.length <= 12);
  const [, low, high] = columns.find(([x]) => x === 5);
  assert.deepEqual([low, high], [0, 99]);
});

test("axes have round steps", () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(-0.1, 0.1, 4), [-0.1, -0.05, 0, 0.05, 0.1]);
  assert.deepEqual(ticks(1, 1), []);
});

test("values are found by the names of the schema", () => {
  const value = { poseCovariance: [1, 2], pose: { position: { x: 3n } }, map: { a: true } };
  assert.equal(at(value, "pose_covariance[1]"), 2);
  assert.equal(at(value, "pose.position.x"), 3n);
  assert.equal(at(value, "pose.none.x"), undefined);
  assert.equal(nanoseconds({ seconds: 2n, nanos: 3 }), 2_000_000_003n);
});

test("trees are bounded", () => {
  const tree = rows({
    $typeName: "x",
    frameId: "map",
    ranges: new Array(50_000).fill(0.5),
    data: new Uint8Array(7),
  });
  assert.deepEqual(
    tree.map(({ name, text }) => [name, text]),
    [
      ["frame_id", '"map"'],
      ["ranges", "50,000 elements"],
      ...Array.from({ length: 100 }, (_, i) => [`[${i}]`, "0.5"]),
      ["…", "49,900 more"],
      ["data", "7 bytes"],
    ],
  );
  assert.equal(rows({ ranges: new Array(50).fill(1) }, () => false).length, 1);
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`a${i}`, i]));
  assert.equal(rows(wide).length, MOST_ROWS + 1);
});

test("numbers have units", () => {
  assert.deepEqual(
    [bytes(999), bytes(1234), bytes(5e6), bytes(2e9)],
    ["999 B", "1.23 kB", "5 MB", "2 GB"],
  );
  assert.deepEqual(
    [duration(0.25), duration(5), duration(61), duration(200)],
    ["250 ms", "5.0 s", "61 s", "3:20 min"],
  );
});

// The server permits the files that this page fetches: serve_test.py reads the same cases.
test("names in mesh files lead to the addresses that the server permits", () => {
  const cases = JSON.parse(readFileSync(new URL("beside.json", import.meta.url), "utf8"));
  for (const [uri, name, address] of cases.addresses) {
    assert.equal(beside(uri, name), address, `${uri} ${name}`);
  }
  const bytes = (text) => new TextEncoder().encode(text);
  for (const [suffix, text, names] of cases.names) {
    assert.deepEqual(namesIn(suffix, bytes(text)), names, text);
  }
  const json = bytes('{"images":[{"uri":"skin.png"}]}');
  const glb = new Uint8Array(20 + json.length);
  glb.set(bytes("glTF"));
  new DataView(glb.buffer).setUint32(12, json.length, true);
  glb.set(json, 20);
  assert.deepEqual(namesIn("glb", glb), ["skin.png"]);
  assert.throws(() => namesIn("glb", bytes("noise")));
});
