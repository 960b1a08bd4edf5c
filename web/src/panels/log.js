// Log lines of all channels of the type Log, with a filter.
import { element, setText } from "../dom.js";
import { nanoseconds } from "../values.js";

const MOST_LINES = 1000;
const LEVELS = ["unknown", "debug", "info", "warning", "error", "fatal"];

export class LogPanel {
  constructor(place, store) {
    this.store = store;
    this.lines = []; // {level, text, at}
    this.forgotten = 0;
    this.least = element(
      "select",
      { onchange: () => this.draw() },
      ...LEVELS.slice(1).map((name, i) => element("option", { value: i + 1 }, name)),
    );
    this.filter = element("input", {
      type: "search",
      placeholder: "filter lines",
      oninput: () => this.draw(),
    });
    this.list = element("div", { class: "log" });
    this.note = element("p", { class: "note" });
    place.append(element("div", { class: "bar" }, this.least, this.filter), this.list, this.note);
    this.dirty = false;
    store.listeners.add(() => this.#follow());
  }

  // Every channel with log lines is shown.
  #follow() {
    for (const one of this.store.offered()) {
      if (one.schema === "foxglove.Log" && !one.users.has("log")) {
        this.store.use(one.topic, "log", (channel, data, timeNs) => {
          const message = channel.decode(data);
          if (message)
            this.add(
              message.level,
              message.name,
              message.message,
              nanoseconds(message.timestamp) ?? timeNs,
            );
        });
      }
    }
  }

  add(level, name, text, ns) {
    const seconds = new Date(Number(ns / 1_000_000n)).toISOString().slice(11, 23);
    this.lines.push({ level, name, text, seconds });
    if (this.lines.length > MOST_LINES) {
      this.lines.shift();
      ++this.forgotten;
    }
    this.dirty = true;
  }

  draw() {
    this.dirty = false;
    const words = this.filter.value.toLowerCase();
    const least = Number(this.least.value);
    const shown = this.lines.filter(
      ({ level, name, text }) => level >= least && `${name} ${text}`.toLowerCase().includes(words),
    );
    const end = this.list.scrollTop + this.list.clientHeight >= this.list.scrollHeight - 30;
    this.list.replaceChildren(
      ...shown.map(({ level, name, text, seconds }) =>
        element(
          "div",
          { class: `line ${LEVELS[level] ?? "unknown"}` },
          element("span", { class: "time" }, seconds),
          element("b", {}, name),
          ` ${text}`,
        ),
      ),
    );
    if (end) this.list.scrollTop = this.list.scrollHeight;
    const old = this.forgotten > 0 ? `, ${this.forgotten} older ones are gone` : "";
    setText(this.note, `${shown.length} of ${this.lines.length} lines${old}`);
  }
}
