// The keys, and the drag of the mouse.
import { element } from "./dom.js";

const KEYS = [
  ["drag left", "turn about the target"],
  ["drag right", "move"],
  ["wheel, + and −", "zoom"],
  ["R", "home: the start view"],
  ["T", "view from above"],
  ["F", "show everything"],
  ["space", "recording: play or pause. Robot: pause the plot"],
  ["← and →", "recording: 1 s back or on, with Shift 10 s"],
  ["1 to 6", "panels Channels, Displays, Message, Plot, Image, Log"],
  ["/", "filter channels"],
  ["?", "this list"],
];

export function fillHelp(dialog) {
  const rows = KEYS.map(([key, text]) =>
    element("tr", {}, element("td", {}, element("kbd", {}, key)), element("td", {}, text)),
  );
  dialog.append(
    element("h2", {}, "Keys"),
    element("table", {}, element("tbody", {}, ...rows)),
    element(
      "p",
      { class: "note" },
      "Drops are counted by place: in the robot, on the way to the server, and for this browser. " +
        "Foxglove and Lichtblick can connect to the address of this page, with ws:// in place of http://.",
    ),
    element("form", { method: "dialog" }, element("button", {}, "close")),
  );
}
