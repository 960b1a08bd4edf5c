// The bar of a recording: play, pause, seek, speed.
import { element, setText } from "../dom.js";
import { duration } from "../values.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 50];
const STEPS = 10_000;

export class PlaybackBar {
  constructor(place, link) {
    this.place = place;
    this.link = link;
    this.begin = null;
    this.end = null;
    this.now = 0n;
    this.status = "paused";
    this.speed = 1;
    this.dragging = false;
    this.seeks = 0; // jumps in time that the server has reported
    this.button = element(
      "button",
      { title: "play or pause (space)", onclick: () => this.toggle() },
      "▶",
    );
    this.slider = element("input", {
      type: "range",
      min: 0,
      max: STEPS,
      value: 0,
      "aria-label": "time",
      oninput: () => {
        this.dragging = true;
        this.#text(this.#at());
      },
      onchange: () => {
        this.dragging = false;
        this.seek(this.#at());
      },
    });
    this.text = element("output");
    this.select = element(
      "select",
      {
        title: "speed",
        onchange: () => {
          this.speed = Number(this.select.value);
          this.link.control(this.status === "playing", this.speed);
        },
      },
      ...SPEEDS.map((speed) => element("option", { value: speed }, `${speed} ×`)),
    );
    this.select.value = 1;
    place.append(this.button, this.slider, this.text, this.select);
    place.hidden = true;
  }

  get active() {
    return this.begin !== null;
  }

  range(begin, end) {
    this.begin = begin;
    this.end = end;
    this.now = begin ?? 0n;
    this.place.hidden = begin === null;
    this.#draw();
  }

  take({ status, timeNs, speed, didSeek }) {
    this.status = status;
    this.now = timeNs;
    this.speed = speed;
    this.seeks += didSeek;
    this.select.value = SPEEDS.find((one) => Math.abs(one - speed) < 1e-3 * one) ?? "";
    this.#draw();
  }

  time(ns) {
    this.now = ns;
    this.#draw();
  }

  #at() {
    return (
      this.begin +
      BigInt(Math.round((Number(this.slider.value) / STEPS) * Number(this.end - this.begin)))
    );
  }

  seek(ns) {
    const to = ns < this.begin ? this.begin : ns > this.end ? this.end : ns;
    this.link.control(this.status === "playing", this.speed, to);
  }

  jump(seconds) {
    if (this.active) this.seek(this.now + BigInt(Math.round(seconds * 1e9)));
  }

  toggle() {
    if (this.active) this.link.control(this.status !== "playing", this.speed);
  }

  #text(ns) {
    const [at, all] = [ns - this.begin, this.end - this.begin].map((one) =>
      duration(Number(one) / 1e9),
    );
    setText(this.text, `${at} of ${all}${this.status === "ended" ? ", ended" : ""}`);
  }

  #draw() {
    if (!this.active) return;
    setText(this.button, this.status === "playing" ? "❚❚" : "▶");
    if (this.dragging) return;
    const all = Number(this.end - this.begin) || 1;
    this.slider.value = Math.round((Number(this.now - this.begin) / all) * STEPS);
    this.#text(this.now);
  }
}
