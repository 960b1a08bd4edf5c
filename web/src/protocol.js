// The WebSocket protocol of Foxglove, as hyphos foxglove speaks it. Pure functions.

export const SUBPROTOCOLS = ["foxglove.sdk.v1"];

const MESSAGE = 1;
const TIME = 2;
const ASSET = 4;
const PLAYBACK = 5;
const PLAYBACK_CONTROL = 3; // from the client

export const STATUS = ["playing", "paused", "buffering", "ended"];
export const LEVELS = ["info", "warning", "error"];

const text = new TextDecoder();

// Data from the server. A message that is too short throws an error.
export function parseBinary(buffer) {
  const view = new DataView(buffer);
  switch (view.getUint8(0)) {
    case MESSAGE:
      return {
        kind: "message",
        subscription: view.getUint32(1, true),
        timeNs: view.getBigUint64(5, true),
        data: new Uint8Array(buffer, 13),
      };
    case TIME:
      return { kind: "time", timeNs: view.getBigUint64(1, true) };
    case ASSET:
      return asset(buffer, view);
    case PLAYBACK:
      return {
        kind: "playback",
        status: STATUS[view.getUint8(1)] ?? "paused",
        timeNs: view.getBigUint64(2, true),
        speed: view.getFloat32(10, true),
        didSeek: view.getUint8(14) !== 0,
      };
    default:
      return { kind: "unknown" };
  }
}

function asset(buffer, view) {
  const request = view.getUint32(1, true);
  const failed = view.getUint8(5) !== 0;
  const length = view.getUint32(6, true);
  const rest = new Uint8Array(buffer, 10);
  if (failed) return { kind: "asset", request, error: text.decode(rest.subarray(0, length)) };
  return { kind: "asset", request, data: rest.subarray(length) };
}

// A request to play or pause at a speed, and optionally to jump to a time.
export function playbackRequest({ play, speed, seekNs = null, id }) {
  const name = new TextEncoder().encode(id);
  const buffer = new ArrayBuffer(19 + name.length);
  const view = new DataView(buffer);
  view.setUint8(0, PLAYBACK_CONTROL);
  view.setUint8(1, play ? 0 : 1);
  view.setFloat32(2, speed, true);
  view.setUint8(6, seekNs === null ? 0 : 1);
  view.setBigUint64(7, seekNs ?? 0n, true);
  view.setUint32(15, name.length, true);
  new Uint8Array(buffer, 19).set(name);
  return buffer;
}

export const subscribe = (pairs) =>
  JSON.stringify({
    op: "subscribe",
    subscriptions: pairs.map(([id, channelId]) => ({ id, channelId })),
  });
export const unsubscribe = (ids) => JSON.stringify({ op: "unsubscribe", subscriptionIds: ids });
export const fetchAsset = (uri, requestId) => JSON.stringify({ op: "fetchAsset", uri, requestId });

// Nanoseconds of {sec, nsec} in JSON.
export const stampOf = (one) => (one ? BigInt(one.sec) * 1_000_000_000n + BigInt(one.nsec) : null);
