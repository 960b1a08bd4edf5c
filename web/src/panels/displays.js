// The displays of the 3-D view: on or off, and the state of each.
import { element, fill, setText } from "../dom.js";
import { displayOf } from "../displays/registry.js";
import { count } from "../values.js";

const MOST_AT_FIRST = 24; // channels that are shown without a press
const MOST_DISPLAYS = 200;

export class DisplaysPanel {
  constructor(place, store, view, services) {
    this.store = store;
    this.view = view;
    this.services = services;
    this.chosen = new Map(); // topic → true or false, of the user
    this.rows = new Map();
    this.list = element("div", { class: "displays" });
    this.note = element("p", { class: "note" });
    place.append(this.list, this.note);
    store.listeners.add(() => this.follow());
  }

  // Shows channels that have come, and hides those that are gone.
  follow() {
    const there = new Map();
    for (const channel of this.store.offered()) {
      const kind = displayOf(channel);
      if (kind && there.size < MOST_DISPLAYS) there.set(channel.topic, { channel, ...kind });
    }
    for (const [topic, row] of this.rows) {
      const now = there.get(topic);
      if (now && now.channel.schema === row.schema) continue;
      // Without a publisher the last picture stays, until another type comes or the user hides it.
      if (now) {
        this.#hide(topic);
        row.element.remove();
        this.rows.delete(topic);
      }
    }
    for (const [topic, found] of [...there].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!this.rows.has(topic)) this.#row(topic, found);
    }
    this.draw();
  }

  #row(topic, { channel, kind, off, make }) {
    const shown = this.chosen.get(topic) ?? (!off && this.view.displays.size < MOST_AT_FIRST);
    const box = element("input", {
      type: "checkbox",
      checked: shown,
      onchange: () => this.set(topic, box.checked),
    });
    const text = element("span", { class: "state" });
    const by = element("select", {
      hidden: true,
      title: "colour",
      onchange: () => this.#colour(topic, by.value),
    });
    const made = element(
      "label",
      { class: "display" },
      box,
      element("b", {}, topic),
      element("i", {}, kind),
      by,
      text,
    );
    this.list.append(made);
    this.rows.set(topic, { element: made, box, text, by, make, channel, schema: channel.schema });
    if (shown) this.#show(topic);
  }

  set(topic, shown) {
    this.chosen.set(topic, shown);
    const row = this.rows.get(topic);
    if (!row) return;
    row.box.checked = shown;
    if (shown) this.#show(topic);
    else this.#hide(topic);
    this.draw();
  }

  #show(topic) {
    const row = this.rows.get(topic);
    const display = row.make(this.services);
    this.view.add(topic, display);
    this.store.use(topic, "display", (channel, data, timeNs) => {
      display.take(channel, data, timeNs);
      this.view.request();
    });
  }

  #hide(topic) {
    this.store.release(topic, "display");
    this.view.remove(topic);
  }

  #colour(topic, field) {
    const display = this.view.displays.get(topic);
    if (!display) return;
    display.by = field;
    const { last } = display.channel;
    if (last) display.take(display.channel, last.data, last.timeNs);
    this.view.request();
  }

  draw() {
    for (const [topic, row] of this.rows) {
      const display = this.view.displays.get(topic);
      row.element.classList.toggle("off", !display);
      const problem = display ? display.problem || display.missing : "";
      row.text.classList.toggle("bad", Boolean(problem));
      setText(row.text, display ? this.#state(display) : "off");
      const fields = display?.fields ?? [];
      row.by.hidden = fields.length < 2;
      if (!row.by.hidden) fill(row.by, fields, display.shownBy);
    }
    setText(this.note, this.rows.size === 0 ? "No channel can be shown in space yet." : "");
  }

  #state(display) {
    if (display.state) return display.state;
    if (display.messages === 0) return "no message yet";
    return display.size > 1 ? count(display.size) : "";
  }
}
