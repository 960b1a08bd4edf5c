// A bounded series of (time, number), and its minima and maxima by column of a plot.

export class Series {
  constructor(capacity = 100_000) {
    this.capacity = capacity;
    this.times = new Float64Array(Math.min(capacity, 1024)); // seconds
    this.values = new Float64Array(this.times.length);
    this.clear();
  }

  clear() {
    this.size = 0;
    this.start = 0; // of the ring
    this.forgotten = 0;
  }

  // Adds a sample. A time before the last one clears the series: the time has jumped back.
  add(time, value) {
    if (this.size > 0 && time < this.time(this.size - 1) - 1e-6) this.clear();
    if (this.size === this.times.length) this.#grow();
    if (this.size === this.capacity) {
      this.start = (this.start + 1) % this.capacity;
      --this.size;
      ++this.forgotten;
    }
    const at = (this.start + this.size) % this.times.length;
    this.times[at] = time;
    this.values[at] = value;
    ++this.size;
  }

  #grow() {
    if (this.times.length >= this.capacity) return;
    const size = Math.min(this.capacity, 2 * this.times.length);
    const copy = (old) => {
      const made = new Float64Array(size);
      made.set(old);
      return made;
    };
    this.times = copy(this.times); // the ring starts at 0 until it is full
    this.values = copy(this.values);
  }

  time(i) {
    return this.times[(this.start + i) % this.times.length];
  }

  value(i) {
    return this.values[(this.start + i) % this.times.length];
  }

  // The first index with a time of at least `time`.
  from(time) {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time(middle) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // For each of `columns` between two times: [x, low, high, last], without empty columns. The
  // sample before the first time and the one after the last are included, so that lines reach the
  // edges. Samples that are not finite are left out.
  columns(begin, end, columns) {
    const found = [];
    const first = Math.max(0, this.from(begin) - 1);
    const last = Math.min(this.size, this.from(end) + 1);
    const scale = columns / (end - begin);
    let current = null;
    for (let i = first; i < last; ++i) {
      const value = this.value(i);
      if (!Number.isFinite(value)) continue;
      const x = Math.floor((this.time(i) - begin) * scale);
      if (current && current[0] === x) {
        current[1] = Math.min(current[1], value);
        current[2] = Math.max(current[2], value);
        current[3] = value;
      } else {
        current = [x, value, value, value];
        found.push(current);
      }
    }
    return found;
  }
}

// Round steps for an axis: at most `most` of them between two numbers.
export function ticks(low, high, most = 6) {
  if (!(high > low)) return [];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; ++i)
    found.push(+(i * step).toPrecision(12));
  return found;
}
