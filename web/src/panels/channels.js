// The table of channels: type, rate, bytes, drops by place, and age of the newest message.
import { element, setText } from "../dom.js";
import { bytes, count, duration } from "../values.js";

const MOST_ROWS = 500;

// The drops of one channel by place: [[place, count], …].
export function dropsOf(row, dropped) {
  const places = Object.entries(row?.drops ?? {});
  if (row?.lost) places.push(["on the way to the server", row.lost]);
  if (row?.unshown) places.push(["not convertible", row.unshown]);
  if (dropped) places.push(["this browser too slow", dropped]);
  return places;
}

const shortType = (type) => type.replace(/^(foxglove|hyphos\.msgs)\./, "");

export class ChannelsPanel {
  constructor(place, store, { choose }) {
    this.store = store;
    this.choose = choose;
    this.filter = element("input", {
      type: "search",
      placeholder: "filter channels",
      oninput: () => this.draw(),
    });
    const names = ["channel", "type", "Hz", "bytes/s", "drops", "age"];
    this.body = element("tbody");
    this.foot = element("p", { class: "note" });
    const head = element(
      "tr",
      {},
      ...names.map((name, i) => element("th", { class: i > 1 ? "number" : "" }, name)),
    );
    place.append(
      this.filter,
      element("table", { class: "channels" }, element("thead", {}, head), this.body),
      this.foot,
    );
    this.rows = new Map();
  }

  names() {
    const found = new Set(Object.keys(this.store.state?.channels ?? {}));
    for (const one of this.store.offered()) found.add(one.topic);
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = (name) => {
      const text = `${name} ${this.#type(name)}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    return [...found].filter(wanted).sort();
  }

  #type(name) {
    const own = this.store.state?.channels?.[name];
    return own?.type || this.store.channels.get(name)?.schema || "";
  }

  draw() {
    const names = this.names();
    const { byTopic } = this.store.droppedHere();
    for (const [name, pair] of this.rows) {
      if (names.includes(name)) continue;
      for (const row of pair) row.remove();
      this.rows.delete(name);
    }
    const wanted = names.slice(0, MOST_ROWS).flatMap((name) => {
      let pair = this.rows.get(name);
      if (!pair) {
        pair = this.#row(name);
        this.rows.set(name, pair);
      }
      this.#fill(pair, name, byTopic.get(name) ?? 0);
      return pair;
    });
    const children = this.body.children;
    const same = wanted.length === children.length && wanted.every((row, i) => children[i] === row);
    if (!same) this.body.replaceChildren(...wanted);
    const more = names.length - MOST_ROWS;
    setText(this.foot, more > 0 ? `${more} more channels: use the filter` : "");
  }

  // Two rows: the numbers, and the places of drops, if there are any.
  #row(name) {
    const cells = [0, 1, 2, 3, 4, 5].map((i) => element("td", { class: i > 1 ? "number" : "" }));
    cells[0].append(element("button", { class: "link", onclick: () => this.choose(name) }, name));
    const places = element("td", { colSpan: cells.length });
    return [element("tr", {}, ...cells), element("tr", { class: "places", hidden: true }, places)];
  }

  #fill([row, more], name, dropped) {
    const own = this.store.state?.channels?.[name];
    const channel = this.store.channels.get(name);
    const drops = dropsOf(own, dropped);
    const sum = drops.reduce((all, [, n]) => all + n, 0);
    const [, type, rate, size, lost, age] = row.children;
    setText(type, shortType(this.#type(name)));
    const hz = own?.rate_hz ?? channel?.rateHz ?? 0;
    setText(rate, hz > 0 ? hz.toFixed(hz < 100 ? 1 : 0) : "–");
    setText(size, own?.bytes_s ? bytes(own.bytes_s) : "–");
    setText(lost, count(sum));
    lost.classList.toggle("bad", sum > 0);
    setText(age, own?.age_s === undefined ? "–" : duration(own.age_s));
    row.classList.toggle("shown", (channel?.users.size ?? 0) > 0);
    const notes = drops.map(([place, n]) => `${count(n)} ${place}`);
    if (channel?.skipped) notes.push(`${count(channel.skipped)} replaced by newer before drawn`);
    if (own?.why_not) notes.push(`not shown: ${own.why_not}`);
    setText(more.firstChild, notes.join(" · "));
    more.hidden = notes.length === 0;
    more.classList.toggle("bad", sum > 0);
  }
}
