// The channels: what the server offers, what this page displays, and the counters of both.
import { decoderOf, numericFields } from "./schemas.js";
import { subscribe, unsubscribe } from "./protocol.js";

export const STATE_TOPIC = "hyphos/viewer";
const MOST_CHANNELS = 5000;

class Channel {
  constructor(topic) {
    this.topic = topic;
    this.offer = null; // the advertisement, or null
    this.users = new Map(); // name → function(message, timeNs, data)
    this.decoder = null;
    this.problem = "";
    this.received = 0;
    this.bytes = 0;
    this.skipped = 0; // received, but a newer message was drawn in its place
    this.last = null; // {timeNs, data} of the newest message
    this.seenMs = 0;
    this.rateHz = 0;
    this.counted = 0;
  }

  get schema() {
    return this.offer?.schemaName ?? "";
  }

  // The newest message, decoded, or null.
  newest() {
    return this.last && this.decode(this.last.data);
  }

  // The decoded message, or null with the reason in `problem`.
  decode(data) {
    try {
      this.decoder ??= decoderOf(this.offer);
      const message = this.decoder.decode(data);
      this.problem = "";
      return message;
    } catch (error) {
      this.problem = `cannot be decoded: ${error.message}`;
      return null;
    }
  }

  fields() {
    try {
      this.decoder ??= decoderOf(this.offer);
      return numericFields(this.decoder.type);
    } catch {
      return [];
    }
  }
}

export class Store {
  constructor(link) {
    this.link = link;
    this.channels = new Map(); // by topic
    this.byId = new Map(); // of advertised channels
    this.state = null; // the counters of the server
    this.listeners = new Set(); // called when channels come and go
  }

  changed() {
    for (const listener of this.listeners) listener();
  }

  channel(topic) {
    let found = this.channels.get(topic);
    if (!found) {
      found = new Channel(topic);
      this.channels.set(topic, found);
    }
    return found;
  }

  advertise(offers) {
    const pairs = [];
    for (const offer of offers) {
      if (this.byId.size >= MOST_CHANNELS) break;
      const channel = this.channel(offer.topic);
      if (channel.offer) this.byId.delete(channel.offer.id);
      channel.offer = offer;
      channel.decoder = null;
      channel.problem = "";
      this.byId.set(offer.id, channel);
      if (channel.users.size > 0) pairs.push([offer.id, offer.id]);
    }
    if (pairs.length > 0) this.link.send(subscribe(pairs));
    this.changed();
  }

  unadvertise(ids) {
    for (const id of ids) {
      const channel = this.byId.get(id);
      if (channel?.offer?.id === id) channel.offer = null;
      this.byId.delete(id);
    }
    this.changed();
  }

  // The connection was lost: the server forgets subscriptions, and numbers channels again.
  forget() {
    for (const channel of this.channels.values()) channel.offer = null;
    this.byId.clear();
    this.state = null;
    this.changed();
  }

  // `take(channel, data, timeNs)` gets each message from now on. Several users share one
  // subscription.
  use(topic, user, take) {
    const channel = this.channel(topic);
    const first = channel.users.size === 0;
    channel.users.set(user, take);
    if (first && channel.offer) this.link.send(subscribe([[channel.offer.id, channel.offer.id]]));
    return channel;
  }

  release(topic, user) {
    const channel = this.channels.get(topic);
    if (!channel?.users.delete(user)) return;
    if (channel.users.size === 0 && channel.offer) this.link.send(unsubscribe([channel.offer.id]));
  }

  // The subscription's number is that of the channel.
  take({ subscription, timeNs, data }) {
    const channel = this.byId.get(subscription);
    if (!channel) return;
    ++channel.received;
    channel.bytes += data.byteLength;
    channel.last = { timeNs, data };
    channel.seenMs = performance.now();
    for (const take of channel.users.values()) take(channel, data, timeNs);
  }

  // Updates the rates. Call it about once a second.
  measure(seconds) {
    for (const channel of this.channels.values()) {
      channel.rateHz = (channel.received - channel.counted) / seconds;
      channel.counted = channel.received;
    }
  }

  offered() {
    return [...this.channels.values()].filter((one) => one.offer && one.topic !== STATE_TOPIC);
  }

  // Messages that the server dropped because this page was too slow, by topic, and the sum.
  droppedHere() {
    const own = this.state?.clients?.find((one) => one.label === this.link.label);
    const byTopic = new Map();
    for (const [id, count] of Object.entries(own?.dropped_of ?? {})) {
      const topic = this.byId.get(Number(id))?.topic ?? "";
      byTopic.set(topic, (byTopic.get(topic) ?? 0) + count);
    }
    return { byTopic, sum: own?.dropped ?? 0 };
  }

  skipped() {
    let sum = 0;
    for (const channel of this.channels.values()) sum += channel.skipped;
    return sum;
  }
}
