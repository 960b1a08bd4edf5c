// Elements without markup in strings, so that no text of a robot becomes markup.

// element("button", {class: "x", title: "…", onclick}, "text", child …)
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && key !== "list") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((one) => one !== null && one !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

// Sets a text without touching an element that has it already.
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

// The colours of the page for canvases: of the style sheet, for the present scheme.
export function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    text: of("text"),
    dim: of("dim"),
    line: of("line"),
    back: of("back"),
    scene: of("scene"),
    accent: of("accent"),
    series: [1, 2, 3, 4, 5, 6].map((i) => of(`series-${i}`)),
  };
}

export const dark = matchMedia("(prefers-color-scheme: dark)");

// Fills a <select> with options, keeping the present choice if it is still there.
export function fill(select, names, chosen) {
  const key = names.join("\n");
  if (select.dataset.names !== key) {
    select.replaceChildren(...names.map((name) => element("option", { value: name }, name || "–")));
    select.dataset.names = key;
  }
  if (chosen !== undefined && select.value !== chosen) select.value = chosen;
}

// Sizes a canvas to its place in device pixels. Returns its context in CSS pixels, or null without
// a place.
export function context(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (width === 0 || height === 0) return null;
  const scale = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const made = canvas.getContext("2d");
  made.setTransform(scale, 0, 0, scale, 0, 0);
  return { draw: made, width, height };
}

export function download(name, blob) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
