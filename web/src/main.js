// The page of hyphos view --serve: one connection, a store of channels, a 3-D view and panels.
import { FramesDisplay } from "./displays/transforms.js";
import { RobotDisplay } from "./displays/robot.js";
import { byId, colours, dark, element, fill, setText } from "./dom.js";
import { Frames } from "./frames.js";
import { fillHelp } from "./help.js";
import { Link } from "./link.js";
import { Meshes } from "./meshes.js";
import { ChannelsPanel } from "./panels/channels.js";
import { DisplaysPanel } from "./panels/displays.js";
import { ImagePanel } from "./panels/image.js";
import { LogPanel } from "./panels/log.js";
import { MessagePanel } from "./panels/message.js";
import { PlaybackBar } from "./panels/playback.js";
import { PlotPanel } from "./panels/plot.js";
import { stampOf } from "./protocol.js";
import { View } from "./scene.js";
import { load, save } from "./settings.js";
import { STATE_TOPIC, Store } from "./store.js";
import { Tabs } from "./tabs.js";
import { count } from "./values.js";

const MOST_NOTICES = 5;
const MOST_CAMERAS = 100;
const NOTICE_MS = 12_000;
const SECOND_MS = 1000;

// The token is in the fragment, which a browser sends to no server.
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
const label = `page-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
const statuses = [];

function notice(text, kind = "info") {
  statuses.push({ text, kind });
  if (statuses.length > 100) statuses.shift();
  const list = byId("notices");
  const same = [...list.children].find((one) => one.textContent === text);
  same?.remove();
  const made = element("li", { class: kind }, text);
  list.append(made);
  while (list.children.length > MOST_NOTICES) list.firstChild.remove();
  setTimeout(() => made.remove(), NOTICE_MS);
}

const link = new Link({
  token,
  label,
  on: {
    state: connection,
    info,
    advertise: (channels) => store.advertise(channels),
    unadvertise: (ids) => store.unadvertise(ids),
    message: (message) => store.take(message),
    time: (ns) => playback.time(ns),
    playback: takePlayback,
    status: notice,
  },
});
const store = new Store(link);
const frames = new Frames();
const view = makeView();
const calibrations = new Map(); // by frame
const meshes = new Meshes((uri) => link.asset(uri));
const services = {
  frames,
  calibrations,
  meshes,
  request: () => view?.request(),
  inSoftware: () => view?.inSoftware ?? false,
  isArray: (topic) => (store.state?.channels?.[topic]?.type ?? "").endsWith("PoseArray"),
};

const playback = new PlaybackBar(byId("playback"), link);
const upper = new Tabs(byId("upper"), byId("upper").nextElementSibling);
const lower = new Tabs(byId("lower"), byId("lower").nextElementSibling);
const channels = upper.add("Channels", (place) => new ChannelsPanel(place, store, { choose }));
const displays =
  view && upper.add("Displays", (place) => new DisplaysPanel(place, store, view, services));
const message = lower.add("Message", (place) => new MessagePanel(place, store, { plot: addPlot }));
const plot = lower.add("Plot", (place) => new PlotPanel(place, store));
const image = lower.add(
  "Image",
  (place) => new ImagePanel(place, store, { request: requestPanels }),
);
const log = lower.add("Log", (place) => new LogPanel(place, store));
const ORDER = [
  [upper, "Channels"],
  [upper, "Displays"],
  [lower, "Message"],
  [lower, "Plot"],
  [lower, "Image"],
  [lower, "Log"],
];

// Without WebGL the tables, plots, images and log lines still work.
function makeView() {
  try {
    const made = new View(byId("scene"), frames);
    made.before.push(drawPanels);
    return made;
  } catch (error) {
    setText(
      byId("scene-note"),
      `This browser has no WebGL, so there is no 3-D view: ${error.message}`,
    );
    return null;
  }
}

function connection(text, kind) {
  const place = byId("connection");
  setText(place, text);
  place.className = kind;
  if (kind === "refused") askToken(text);
  if (kind === "closed" || kind === "refused") store.forget();
}

function askToken(reason) {
  const dialog = byId("token");
  const input = element("input", { type: "password", "aria-label": "token", autocomplete: "off" });
  const form = element(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        location.hash = `token=${encodeURIComponent(input.value)}`;
        location.reload();
      },
    },
    element("p", {}, `The server has ${reason}.`),
    element("p", {}, "The command printed the token with its address. ", input),
    element("button", {}, "connect"),
  );
  dialog.replaceChildren(form);
  if (!dialog.open) dialog.showModal();
}

function choices() {
  return {
    displays: [...(displays?.chosen ?? [])],
    plots: [...plot.lines.keys()],
    tabs: [upper.shown, lower.shown],
    fixed: view?.wished ?? "",
    seconds: plot.windowS,
  };
}

function restore(name) {
  const old = load(name);
  const list = (value) => (Array.isArray(value) ? value : []);
  for (const pair of list(old.displays)) {
    if (Array.isArray(pair)) displays?.chosen.set(String(pair[0]), Boolean(pair[1]));
  }
  for (const field of list(old.plots)) plot.add(String(field));
  if (old.seconds > 0) plot.windowS = Math.min(3600, old.seconds);
  if (view && typeof old.fixed === "string") view.wished = old.fixed;
  [upper, lower].forEach((one, i) => {
    if (one.tabs.has(old.tabs?.[i])) one.show(old.tabs[i]);
  });
  return JSON.stringify(choices());
}

let saved = null; // the choices as they are kept
let session = null;
function info(told) {
  saved ??= restore(told.name);
  setText(byId("name"), told.name);
  document.title = told.name;
  meshes.retry();
  if (session !== null && session !== told.sessionId) clear();
  session = told.sessionId;
  playback.range(stampOf(told.dataStartTime), stampOf(told.dataEndTime));
}

function takePlayback(state) {
  playback.take(state);
  if (state.didSeek) clear();
}

// A jump in time: earlier values hold no longer.
function clear() {
  frames.clear();
  plot.clear();
  view?.clear();
}

function choose(topic) {
  message.choose(topic);
  lower.show("Message");
}

function addPlot(field) {
  plot.add(field);
  lower.show("Plot");
}

let asked = false;
function requestPanels() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(drawPanels);
}

function drawPanels() {
  asked = false;
  if (lower.panel === image) image.draw();
}

store.use(STATE_TOPIC, "state", (channel, data) => {
  store.state = channel.decode(data) ?? store.state;
});

// Calibrations place images in space.
store.listeners.add(() => {
  for (const one of store.offered()) {
    if (one.schema !== "foxglove.CameraCalibration" || one.users.has("image")) continue;
    store.use(one.topic, "image", (channel, data) => {
      const found = channel.decode(data);
      const same = found && JSON.stringify([found.width, found.height, found.K]);
      if (!found || calibrations.get(found.frameId)?.same === same) return;
      if (calibrations.size < MOST_CAMERAS) calibrations.set(found.frameId, { ...found, same });
    });
  }
});

// Joint states move the robot models.
store.listeners.add(() => {
  for (const one of store.offered()) {
    if (one.schema !== "foxglove.JointStates" || one.users.has("robot")) continue;
    store.use(one.topic, "robot", (channel, data) => {
      const joints = channel.decode(data);
      const models = [...(view?.displays.values() ?? [])].filter(
        (shown) => shown instanceof RobotDisplay,
      );
      if (!joints || models.length === 0) return;
      for (const model of models) model.joints(joints);
      view.request();
    });
  }
});

if (view) {
  const all = new FramesDisplay(frames);
  view.add("", all);
  dark.addEventListener("change", () => all.recolour());
  byId("fixed").onchange = ({ target }) => {
    view.wished = target.value;
    view.request();
  };
  byId("follow").onchange = ({ target }) => {
    view.follow = target.value;
    view.followed = null;
    view.request();
  };
  byId("home").onclick = () => view.home();
  byId("top").onclick = () => view.top();
  byId("fit").onclick = () => view.fit();
}
fillHelp(byId("keys"));
byId("help").onclick = () => byId("keys").showModal();

const ACTIONS = {
  r: () => view?.home(),
  t: () => view?.top(),
  f: () => view?.fit(),
  "+": () => view?.zoom(0.8),
  "=": () => view?.zoom(0.8),
  "-": () => view?.zoom(1.25),
  "?": () => byId("keys").showModal(),
  " ": () => (playback.active ? playback.toggle() : plot.toggle()),
  arrowleft: (shift) => playback.jump(shift ? -10 : -1),
  arrowright: (shift) => playback.jump(shift ? 10 : 1),
  "/": () => {
    upper.show("Channels");
    channels.filter.focus();
  },
};
addEventListener("keydown", (event) => {
  const busy = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  if (
    busy ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    document.querySelector("dialog[open]")
  )
    return;
  if (event.target.tagName === "BUTTON" && event.key === " ") return;
  const tab = ORDER[Number(event.key) - 1];
  const action = tab
    ? () => tab[0].tabs.has(tab[1]) && tab[0].show(tab[1])
    : ACTIONS[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action(event.shiftKey);
});

let measuredMs = performance.now();
let hadData = false;
function everySecond() {
  const nowMs = performance.now();
  store.measure((nowMs - measuredMs) / SECOND_MS);
  measuredMs = nowMs;
  const { sum } = store.droppedHere();
  setText(byId("drops"), sum > 0 ? `${count(sum)} messages dropped: this browser is too slow` : "");
  if (upper.panel === channels) channels.draw();
  const now = JSON.stringify(choices());
  if (saved !== null && saved !== now) {
    saved = now;
    save(byId("name").textContent, choices());
  }
  // The data of the first second decide about the first view.
  if (hadData) view?.fitFirst();
  hadData ||= [...(view?.displays.values() ?? [])].some((one) => one.messages > 0);
}

// Panels that show text change at most four times a second, and only if something has come.
function everyQuarter() {
  if (upper.panel === displays) displays.draw();
  if (lower.panel === message && message.dirty) message.draw();
  if (lower.panel === log && log.dirty) log.draw();
  if (lower.panel === plot && plot.lines.size > 0) plot.draw();
  if (!view) return;
  fill(
    byId("fixed"),
    [view.fixed, ...frames.names().filter((name) => name !== view.fixed)],
    view.fixed,
  );
  fill(byId("follow"), ["", ...frames.names()], view.follow);
  const bad = [...view.displays].find(([, one]) => one.problem || one.missing);
  setText(byId("scene-note"), bad ? `${bad[0]}: ${bad[1].problem || bad[1].missing}` : view.note());
}

setInterval(everySecond, SECOND_MS);
setInterval(everyQuarter, SECOND_MS / 4);
upper.show("Channels");
lower.show("Image");
addEventListener("hashchange", () => location.reload());
link.start();

// The state for tests and for the console of a browser.
window.hyphos = {
  state() {
    const shown = {};
    for (const [topic, one] of view?.displays ?? []) {
      if (topic)
        shown[topic] = {
          messages: one.messages,
          size: one.size,
          state: one.state ?? "",
          visible: one.group.visible,
          meshes: one.loaded ?? 0,
        };
    }
    const rows = [...channels.rows].map(([name, [row, more]]) => [
      name,
      ...[...row.children].slice(1).map((cell) => cell.textContent),
      more.hidden ? "" : more.textContent,
    ]);
    return {
      connection: byId("connection").className,
      text: byId("connection").textContent,
      connections: link.connections,
      label,
      name: byId("name").textContent,
      channels: store
        .offered()
        .map((one) => one.topic)
        .sort(),
      rows,
      displays: shown,
      fixed: view?.fixed ?? "",
      frames: frames.names(),
      drawn: view?.drawn ?? 0,
      requested: view?.dirty ?? false, // a picture that is not yet drawn
      placed: view?.touched ?? false,
      saved,
      images: image.drawn,
      lines: log.lines.length,
      plots: Object.fromEntries([...plot.lines].map(([name, { series }]) => [name, series.size])),
      dropped: store.droppedHere().sum,
      skipped: store.skipped(),
      problems: link.problems,
      statuses,
      playback: playback.active
        ? {
            status: playback.status,
            atS: Number(playback.now - playback.begin) / 1e9,
            speed: playback.speed,
            seeks: playback.seeks,
          }
        : null,
    };
  },
  display: (topic, shown) => displays?.set(topic, shown),
  show: (name) => ORDER.find(([, one]) => one === name)?.[0].show(name),
  plot: addPlot,
  choose,
  seek: (seconds) => playback.seek(playback.begin + BigInt(Math.round(seconds * 1e9))),
  play: () => link.control(true, playback.speed),
  pause: () => link.control(false, playback.speed),
  view: (name) => view?.[name]?.(),
};
