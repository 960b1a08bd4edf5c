// A camera image. Only the newest one is drawn.
import { element, fill, setText } from "../dom.js";
import { IMAGES, paint } from "../picture.js";

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
      .filter((one) => IMAGES.includes(one.schema))
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
      await paint(this.canvas, message);
      ++this.drawn;
      const kind = message.format ?? message.encoding;
      setText(this.note, `${this.canvas.width} × ${this.canvas.height} ${kind}`);
    } catch (error) {
      setText(this.note, `${this.topic}: ${error.message}`);
    } finally {
      this.busy = false;
    }
    if (this.pending) this.request();
  }
}
