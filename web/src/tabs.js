// A pane with tabs. A panel may have activate(shown) and draw().
import { element } from "./dom.js";

export class Tabs {
  constructor(bar, body) {
    this.bar = bar;
    this.body = body;
    this.tabs = new Map(); // name → {button, place, panel}
    this.shown = "";
    bar.setAttribute("role", "tablist");
  }

  // `make(place)` returns the panel.
  add(name, make) {
    const place = element("div", { class: "panel", role: "tabpanel", hidden: true });
    const button = element("button", { role: "tab", onclick: () => this.show(name) }, name);
    this.bar.append(button);
    this.body.append(place);
    const panel = make(place);
    this.tabs.set(name, { button, place, panel });
    return panel;
  }

  show(name) {
    this.shown = name;
    for (const [one, { button, place, panel }] of this.tabs) {
      const shown = one === name;
      button.setAttribute("aria-selected", String(shown));
      place.hidden = !shown;
      panel.activate?.(shown);
      if (shown) panel.draw?.();
    }
  }

  get panel() {
    return this.tabs.get(this.shown)?.panel;
  }
}
