// The base of the displays: one channel in space.
import { Group } from "three";
import { nanoseconds } from "../values.js";
import { release } from "./shapes.js";

export class Display {
  constructor(channel) {
    this.channel = channel;
    this.group = new Group();
    this.pending = null; // {data, timeNs} of the newest message that is not yet drawn
    this.frame = "";
    this.stampNs = null;
    this.messages = 0; // drawn
    this.problem = "";
    this.missing = ""; // a frame without a transform
    this.note = ""; // a restriction that is no error
    this.size = 0; // points, poses or shapes
  }

  // A message has come. Only the newest one before a picture is decoded and drawn.
  take(_channel, data, timeNs) {
    if (this.pending) ++this.channel.skipped;
    this.pending = { data, timeNs };
  }

  // Called before each picture.
  update(view) {
    if (this.pending) {
      const { data, timeNs } = this.pending;
      this.pending = null;
      this.#show(data, timeNs);
    }
    this.place(view);
  }

  #show(data, timeNs) {
    const message = this.channel.decode(data);
    if (!message) {
      this.problem = this.channel.problem;
      return;
    }
    this.frame = message.frameId ?? this.frame;
    this.stampNs = nanoseconds(message.timestamp) ?? timeNs;
    this.problem = "";
    this.note = "";
    try {
      this.show(message);
      ++this.messages;
    } catch (error) {
      this.problem = `cannot be drawn: ${error.message}`;
    }
  }

  // Moves the group to the frame of the message, or hides it and states the reason.
  place(view) {
    if (this.messages === 0) {
      this.group.visible = false;
      return;
    }
    const pose = view.locate(this.frame, this.stampNs);
    this.group.visible = !pose.error;
    if (pose.error) {
      this.missing = pose.error;
      return;
    }
    this.missing = "";
    this.group.position.set(...pose.t);
    this.group.quaternion.set(...pose.q);
  }

  get state() {
    return this.problem || this.missing || this.note;
  }

  show(_message) {}

  clear() {
    this.pending = null;
    this.messages = 0;
    this.size = 0;
  }

  dispose() {
    release(this.group);
  }
}
