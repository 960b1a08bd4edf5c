// The choices of the user, kept by the browser for each robot or recording.

const PREFIX = "hyphos view ";
const MOST_TEXT = 100_000; // characters

// The choices of an earlier visit, or {}. A browser may refuse to keep anything.
export function load(name, storage = globalThis.localStorage) {
  try {
    const found = JSON.parse(storage.getItem(PREFIX + name) ?? "{}");
    return found !== null && typeof found === "object" && !Array.isArray(found) ? found : {};
  } catch {
    return {};
  }
}

export function save(name, choices, storage = globalThis.localStorage) {
  const text = JSON.stringify(choices);
  if (text.length > MOST_TEXT) return;
  try {
    storage.setItem(PREFIX + name, text);
  } catch {
    // The page works without them.
  }
}
