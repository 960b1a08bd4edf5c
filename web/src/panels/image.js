// A camera image. Only the newest one is drawn.
import { element, fill, setText } from "../dom.js";
import { pixelsOf } from "../pixels.js";

const SCHEMAS = ["foxglove.RawImage", "foxglove.CompressedImage"];
const TYPES = { jpeg: "image/jpeg", png: "image/png", webp: "image/webp", avif: "image/avif" };

export class ImagePanel {
  constructor(place, store, { request }) {
    this.store = store;
    this.request = request;
    this.topic = "";
    this.active = false;
    this.pending = null;
    this.drawn = 0;
    this.busy = false;
    this.select = element("select", { onchange: () => this.choose(this.select.value) });
    this.canvas = element("canvas", { class: "image" });
    this.note = element("p", { class: "note" });
    place.append(element("div", { class: "bar" }, this.select), this.canvas, this.note);
    store.listeners.add(() => this.#names());
  }

  names() {
    return this.store
      .offered()
      .filter((one) => SCHEMAS.includes(one.schema))
      .map((one) => one.topic)
      .sort();
  }

  #names() {
    const names = this.names();
    if (!this.topic && names.length > 0) this.choose(names[0]);
    else fill(this.select, ["", ...names], this.topic);
  }

  choose(topic) {
    this.store.release(this.topic, "image");
    this.topic = topic;
    this.pending = null;
    this.activate(this.active);
    fill(this.select, ["", ...this.names()], topic);
  }

  // A hidden panel needs no images.
  activate(active) {
    this.active = active;
    if (!this.topic) return;
    if (!active) {
      this.store.release(this.topic, "image");
      return;
    }
    this.store.use(this.topic, "image", (channel, data) => {
      if (this.pending) ++channel.skipped;
      this.pending = data;
      this.request();
    });
  }

  async draw() {
    if (!this.pending || this.busy) return;
    const channel = this.store.channel(this.topic);
    const message = channel.decode(this.pending);
    this.pending = null;
    this.busy = true;
    try {
      if (!message) throw new Error(channel.problem);
      await this.#show(message);
      ++this.drawn;
    } catch (error) {
      setText(this.note, `${this.topic}: ${error.message}`);
    } finally {
      this.busy = false;
    }
    if (this.pending) this.request();
  }

  async #show(message) {
    const pen = this.canvas.getContext("2d");
    if (message.format !== undefined) {
      const type = TYPES[message.format];
      if (!type) throw new Error(`the format '${message.format}' is unknown`);
      const picture = await createImageBitmap(new Blob([message.data], { type }));
      this.#size(picture.width, picture.height);
      pen.drawImage(picture, 0, 0);
      picture.close();
    } else {
      const { width, height, rgba } = pixelsOf(message);
      this.#size(width, height);
      if (width > 0 && height > 0) pen.putImageData(new ImageData(rgba, width, height), 0, 0);
    }
    const kind = message.format ?? message.encoding;
    setText(this.note, `${this.canvas.width} × ${this.canvas.height} ${kind}`);
  }

  #size(width, height) {
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
  }
}
