// The connection to the server. It reconnects by itself.
import { LEVELS, SUBPROTOCOLS, fetchAsset, parseBinary, playbackRequest } from "./protocol.js";

const FIRST_WAIT_MS = 500;
const MOST_WAIT_MS = 8000;
const OWN_DROPS = "hyphos.drops"; // a status for other clients: this page counts by channel

export class Link {
  // `on` has functions: state(text, kind), info(message), advertise, unadvertise, message, time,
  // playback, status. `kind` of a state is connecting, open, closed or refused.
  constructor({ token, label, on }) {
    this.token = token;
    this.label = label;
    this.on = on;
    this.socket = null;
    this.waitMs = FIRST_WAIT_MS;
    this.connections = 0;
    this.bytes = 0;
    this.problems = 0; // messages that were not valid
    this.assets = new Map();
    this.requests = 0;
    this.timer = 0;
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  // A browser hides the reason of a refused WebSocket, so a request asks for it first.
  async start() {
    clearTimeout(this.timer);
    this.on.state("connecting …", "connecting");
    let reply;
    try {
      reply = await fetch("access", {
        headers: this.token ? { authorization: `Bearer ${this.token}` } : {},
      });
    } catch {
      this.#again("the server does not reply");
      return;
    }
    if (!reply.ok) {
      const { error } = await reply.json().catch(() => ({ error: `status ${reply.status}` }));
      this.on.state(`refused: ${error}`, "refused");
      return;
    }
    this.#open();
  }

  #open() {
    const query = new URLSearchParams({ client: this.label });
    if (this.token) query.set("token", this.token);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/?${query}`, SUBPROTOCOLS);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.waitMs = FIRST_WAIT_MS;
      ++this.connections;
      this.on.state("connected", "open");
    };
    socket.onmessage = (event) => this.#take(event.data);
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.socket = null;
      for (const { fail } of this.assets.values()) fail(new Error("the connection was lost"));
      this.assets.clear();
      this.#again("disconnected");
    };
  }

  #again(reason) {
    const seconds = Math.round(this.waitMs / 100) / 10;
    this.on.state(`${reason}, next try in ${seconds} s`, "closed");
    this.timer = setTimeout(() => this.start(), this.waitMs);
    this.waitMs = Math.min(MOST_WAIT_MS, this.waitMs * 2);
  }

  #take(data) {
    try {
      if (typeof data === "string") {
        this.bytes += data.length;
        this.#takeText(JSON.parse(data));
        return;
      }
      this.bytes += data.byteLength;
      const message = parseBinary(data);
      if (message.kind === "message") this.on.message(message);
      else if (message.kind === "time") this.on.time(message.timeNs);
      else if (message.kind === "playback") this.on.playback(message);
      else if (message.kind === "asset") this.#takeAsset(message);
    } catch (error) {
      ++this.problems;
      this.on.status(`a message of the server is not valid: ${error.message}`, "error");
    }
  }

  #takeText(message) {
    if (message.op === "serverInfo") this.on.info(message);
    else if (message.op === "advertise") this.on.advertise(message.channels);
    else if (message.op === "unadvertise") this.on.unadvertise(message.channelIds);
    else if (message.op === "status" && message.id !== OWN_DROPS) {
      this.on.status(message.message, LEVELS[message.level] ?? "info");
    }
  }

  #takeAsset({ request, error, data }) {
    const waiting = this.assets.get(request);
    this.assets.delete(request);
    if (!waiting) return;
    if (error === undefined) waiting.done(data);
    else waiting.fail(new Error(error));
  }

  send(message) {
    if (this.isOpen) this.socket.send(message);
  }

  control(play, speed, seekNs = null) {
    this.send(playbackRequest({ play, speed, seekNs, id: `page-${++this.requests}` }));
  }

  // The bytes of a file that the server offers, such as a mesh.
  asset(uri) {
    if (!this.isOpen) return Promise.reject(new Error("there is no connection"));
    const id = ++this.requests;
    return new Promise((done, fail) => {
      this.assets.set(id, { done, fail });
      this.send(fetchAsset(uri, id));
    });
  }
}
