// Numbers over time. Every message counts.
import { Series, ticks } from "../series.js";
import { at, number } from "../values.js";
import { colours, context, download, element, setText } from "../dom.js";

const MOST_LINES = 12;
const MARGIN = { left: 52, right: 10, top: 8, bottom: 20 };

export class PlotPanel {
  constructor(place, store) {
    this.store = store;
    this.lines = new Map(); // "channel:field" → {topic, path, series, last}
    this.windowS = 20;
    this.paused = null; // time of the right edge
    this.originS = null;
    this.canvas = element("canvas", { class: "plot" });
    this.input = element("input", {
      placeholder: "channel:field",
      onchange: () => {
        if (this.input.value) this.add(this.input.value);
        this.input.value = "";
      },
    });
    this.input.setAttribute("list", "fields");
    this.fields = element("datalist", { id: "fields" });
    this.input.addEventListener("focus", () => this.#offer());
    this.pause = element("button", { onclick: () => this.toggle() }, "pause");
    const save = element("button", { onclick: () => this.save() }, "CSV");
    this.legend = element("div", { class: "legend" });
    this.note = element(
      "p",
      { class: "note" },
      "Type channel:field, or press a number in the panel Message.",
    );
    place.append(
      element("div", { class: "bar" }, this.input, this.fields, this.pause, save),
      this.legend,
      this.canvas,
      this.note,
    );
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.windowS = Math.min(3600, Math.max(0.1, this.windowS * (event.deltaY > 0 ? 1.25 : 0.8)));
      this.draw();
    });
  }

  #offer() {
    const found = this.store
      .offered()
      .flatMap((one) => one.fields().map((path) => `${one.topic}:${path}`));
    this.fields.replaceChildren(
      ...found.slice(0, 2000).map((value) => element("option", { value })),
    );
  }

  add(name) {
    const [topic, path] = [name.slice(0, name.indexOf(":")), name.slice(name.indexOf(":") + 1)];
    if (!topic || !path || this.lines.has(name) || this.lines.size >= MOST_LINES) return;
    const line = { topic, path, series: new Series(), last: NaN };
    this.lines.set(name, line);
    this.store.use(topic, `plot ${name}`, (channel, data, timeNs) => {
      const message = channel.decode(data);
      line.last = message ? number(at(message, path)) : NaN;
      line.series.add(this.#seconds(timeNs), line.last);
    });
    const colour = this.lines.size - 1;
    line.row = element("span", { class: `entry series-${(colour % 6) + 1}` });
    line.text = element("span");
    line.row.append(
      line.text,
      element("button", { class: "link", title: "remove", onclick: () => this.remove(name) }, "×"),
    );
    this.legend.append(line.row);
    this.note.hidden = true;
    this.draw();
  }

  remove(name) {
    const line = this.lines.get(name);
    if (!line) return;
    this.store.release(line.topic, `plot ${name}`);
    line.row.remove();
    this.lines.delete(name);
    this.draw();
  }

  #seconds(ns) {
    this.originS ??= ns;
    return Number(ns - this.originS) / 1e9;
  }

  newest() {
    let found = -Infinity;
    for (const { series } of this.lines.values()) {
      if (series.size > 0) found = Math.max(found, series.time(series.size - 1));
    }
    return found;
  }

  toggle() {
    this.paused = this.paused === null ? this.newest() : null;
    setText(this.pause, this.paused === null ? "pause" : "continue");
    this.draw();
  }

  clear() {
    for (const { series } of this.lines.values()) series.clear();
  }

  save() {
    const rows = ["time_s,field,value"];
    for (const [name, { series }] of this.lines) {
      for (let i = 0; i < series.size; ++i)
        rows.push(`${series.time(i)},"${name}",${series.value(i)}`);
    }
    download("plot.csv", new Blob([rows.join("\n")], { type: "text/csv" }));
  }

  draw() {
    const found = context(this.canvas);
    if (!found) return;
    const { draw, width, height } = found;
    const palette = colours();
    draw.fillStyle = palette.back;
    draw.fillRect(0, 0, width, height);
    const end = this.paused ?? this.newest();
    const begin = end - this.windowS;
    const plot = {
      width: width - MARGIN.left - MARGIN.right,
      height: height - MARGIN.top - MARGIN.bottom,
    };
    if (!Number.isFinite(end) || plot.width < 10 || plot.height < 10) return;
    const all = [...this.lines.values()].map(({ series }) =>
      series.columns(begin, end, plot.width),
    );
    let [low, high] = [Infinity, -Infinity];
    for (const columns of all) {
      for (const [, least, most] of columns) {
        low = Math.min(low, least);
        high = Math.max(high, most);
      }
    }
    if (!(high >= low)) return;
    const pad = high > low ? (high - low) * 0.05 : Math.abs(high) * 0.1 || 1;
    [low, high] = [low - pad, high + pad];
    const y = (value) => MARGIN.top + plot.height * (1 - (value - low) / (high - low));
    this.#axes(draw, palette, { low, high, begin, end, y, plot });
    draw.save();
    draw.beginPath();
    draw.rect(MARGIN.left, MARGIN.top, plot.width, plot.height);
    draw.clip();
    all.forEach((columns, i) => {
      draw.strokeStyle = palette.series[i % palette.series.length];
      draw.lineWidth = 1.5;
      draw.beginPath();
      for (const [x, least, most, last] of columns) {
        const at = MARGIN.left + x + 0.5;
        draw.lineTo(at, y(most));
        if (most > least) draw.lineTo(at, y(least));
        draw.lineTo(at, y(last));
      }
      draw.stroke();
    });
    draw.restore();
    for (const [name, line] of this.lines)
      setText(line.text, `${name} ${Number.isNaN(line.last) ? "–" : +line.last.toPrecision(6)}`);
  }

  #axes(draw, palette, { low, high, begin, end, y, plot }) {
    draw.font = "11px system-ui, sans-serif";
    draw.fillStyle = palette.dim;
    draw.strokeStyle = palette.line;
    draw.lineWidth = 1;
    draw.textAlign = "right";
    draw.textBaseline = "middle";
    for (const value of ticks(low, high, Math.max(2, plot.height / 40))) {
      draw.fillText(String(value), MARGIN.left - 6, y(value));
      draw.beginPath();
      draw.moveTo(MARGIN.left, y(value));
      draw.lineTo(MARGIN.left + plot.width, y(value));
      draw.stroke();
    }
    draw.textAlign = "center";
    draw.textBaseline = "top";
    for (const value of ticks(begin, end, Math.max(2, plot.width / 80))) {
      const x = MARGIN.left + (plot.width * (value - begin)) / (end - begin);
      draw.fillText(`${value} s`, x, MARGIN.top + plot.height + 4);
    }
  }
}
