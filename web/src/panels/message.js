// The newest message of one channel as a tree. A press on a number plots it.
import { element, fill, setText } from "../dom.js";
import { rows } from "../values.js";

export class MessagePanel {
  constructor(place, store, { plot }) {
    this.store = store;
    this.plot = plot;
    this.topic = "";
    this.open = new Set(); // long lists that are open
    this.dirty = false;
    this.active = false;
    this.select = element("select", { onchange: () => this.choose(this.select.value) });
    this.note = element("p", { class: "note" });
    this.tree = element("div", { class: "tree" });
    place.append(element("div", { class: "bar" }, this.select), this.note, this.tree);
    store.listeners.add(() => this.#names());
  }

  #names() {
    fill(
      this.select,
      [
        "",
        ...this.store
          .offered()
          .map((one) => one.topic)
          .sort(),
      ],
      this.topic,
    );
  }

  choose(topic) {
    if (topic !== this.topic) {
      this.store.release(this.topic, "message");
      this.topic = topic;
      this.open.clear();
    }
    this.activate(this.active);
    this.#names();
    this.draw();
  }

  // A hidden panel needs no messages.
  activate(active) {
    this.active = active;
    if (!this.topic) return;
    if (active) this.store.use(this.topic, "message", () => (this.dirty = true));
    else this.store.release(this.topic, "message");
  }

  draw() {
    this.dirty = false;
    const channel = this.store.channels.get(this.topic);
    const message = channel?.offer && channel.newest();
    const why = this.store.state?.channels?.[this.topic]?.why_not;
    const type = channel?.schema ?? "";
    setText(
      this.note,
      channel?.problem ||
        why ||
        (this.topic ? `${type}${message ? "" : ", no message yet"}` : "Choose a channel."),
    );
    if (!message) {
      this.tree.replaceChildren();
      return;
    }
    this.tree.replaceChildren(
      ...rows(message, (path) => this.open.has(path)).map((row) => this.#row(row)),
    );
  }

  #row({ depth, name, path, text, isNumber, list, shut }) {
    const label = element("span", { class: "name" }, name);
    const value = isNumber
      ? element(
          "button",
          {
            class: "link number",
            title: "plot",
            onclick: () => this.plot(`${this.topic}:${path}`),
          },
          text,
        )
      : element("span", { class: "value" }, text);
    const made = element("div", { class: "row" }, label, value);
    if (list) {
      const turn = () => {
        if (!this.open.delete(path)) this.open.add(path);
        this.draw();
      };
      made.append(element("button", { class: "link", onclick: turn }, shut ? "open" : ""));
    }
    made.style.paddingLeft = `${depth * 14}px`;
    return made;
  }
}
