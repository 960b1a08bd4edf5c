// The files beside a mesh file that it names: textures, materials and buffers. The server permits
// the same names (python/hyphos/foxglove/assets.py).
const MOST_NAMES = 64;

const unique = (names) => [...new Set(names.filter((name) => name !== ""))].slice(0, MOST_NAMES);
const all = (text, pattern) => [...text.matchAll(pattern)].map((found) => found[1].trim());
const plain = (name) =>
  name.replaceAll("&amp;", "&").replaceAll("&lt;", "<").replaceAll("&gt;", ">");

// The JSON of a glTF file, also inside a .glb file.
function head(bytes, text) {
  if (bytes.length < 20 || String.fromCharCode(...bytes.subarray(0, 4)) !== "glTF") return text();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = Math.min(view.getUint32(12, true), bytes.length - 20);
  return new TextDecoder().decode(bytes.subarray(20, 20 + size));
}

function gltfNames(text) {
  const { buffers = [], images = [] } = JSON.parse(text);
  return [...buffers, ...images]
    .map(({ uri }) => (typeof uri === "string" ? uri : ""))
    .filter((uri) => !uri.startsWith("data:"));
}

// The names in a file of this suffix, as they are written there.
export function namesIn(suffix, bytes) {
  const text = () => new TextDecoder().decode(bytes);
  switch (suffix) {
    case "dae":
      return unique(all(text(), /<init_from>\s*(?:<ref>)?([^<]*)</g).map(plain));
    case "obj":
      return unique(all(text(), /^\s*mtllib\s+(\S[^\r\n]*)$/gm));
    case "mtl":
      return unique(all(text(), /^\s*map_Kd\s+(?:.*\s)?(\S+)\s*$/gim));
    case "glb":
    case "gltf":
      return unique(gltfNames(head(bytes, text)));
    default:
      return [];
  }
}

// The address of such a file: "package://r/meshes/a.dae" and "../b.png" give "package://r/b.png".
// null for a name that leads elsewhere.
export function beside(uri, name) {
  const found = /^(\w+:\/\/)?(.*)$/s.exec(uri);
  let file = name.replaceAll("\\", "/");
  try {
    file = decodeURIComponent(file);
  } catch {
    // The name has a percent sign of its own.
  }
  if (/^\w+:/.test(file) || file.startsWith("/")) return null;
  const parts = found[2].split("/").slice(0, -1);
  for (const part of file.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 1) parts.pop();
    else return null;
  }
  return (found[1] ?? "") + parts.join("/");
}
