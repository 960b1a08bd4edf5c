// Mesh files: dae, glb, gltf, obj and stl. Each is read once, and its copies share memory. Axes are
// those of the file, and lengths are in metres.
import { Color, DoubleSide, Group, LoadingManager, Mesh, MeshLambertMaterial } from "three";
import { ColladaLoader } from "three/examples/jsm/loaders/ColladaLoader.js";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { MTLLoader } from "three/examples/jsm/loaders/MTLLoader.js";
import { OBJLoader } from "three/examples/jsm/loaders/OBJLoader.js";
import { STLLoader } from "three/examples/jsm/loaders/STLLoader.js";
import { beside, namesIn } from "./beside.js";

const MOST_FILES = 500;
const MOST_BYTES = 256 << 20; // of all files
const MOST_CORNERS = 5_000_000; // of one file
const MOST_INSIDE = 16; // meshes that came inside a message
const MEDIA = {
  "model/vnd.collada+xml": "dae",
  "model/gltf-binary": "glb",
  "model/gltf+json": "gltf",
  "model/obj": "obj",
  "model/stl": "stl",
};
// A white pixel in place of a texture that is missing.
const WHITE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";

const utf8 = (bytes) => new TextDecoder().decode(bytes);
// Loaders take whole buffers.
const whole = (bytes) => bytes.slice().buffer;

function same(one, other) {
  if (one.length !== other.length) return false;
  for (let i = 0; i < one.length; ++i) if (one[i] !== other[i]) return false;
  return true;
}

// Every reader returns {object, colored}. `colored`: the file has materials.
const READERS = {
  async dae(bytes, manager) {
    const text = utf8(bytes);
    const made = new ColladaLoader(manager).parse(text, "");
    if (!made) throw new Error("it is no valid Collada file");
    // The loader turns the axis that the file names upwards. RViz does not.
    made.scene.quaternion.identity();
    return { object: made.scene, colored: /<instance_material\b/.test(text) };
  },
  async glb(bytes, manager) {
    const made = await new GLTFLoader(manager).parseAsync(whole(bytes), "");
    return { object: made.scene, colored: (made.parser.json.materials ?? []).length > 0 };
  },
  async obj(bytes, manager, libraries) {
    const loader = new OBJLoader(manager);
    const text = libraries.join("\n");
    if (text) {
      const materials = new MTLLoader(manager).parse(text, "");
      materials.preload();
      loader.setMaterials(materials);
    }
    const object = loader.parse(utf8(bytes));
    let colored = text !== "";
    object.traverse((one) => {
      colored ||= one.geometry?.hasAttribute("color") ?? false;
    });
    return { object, colored };
  },
  async stl(bytes) {
    return { object: new Mesh(new STLLoader().parse(whole(bytes))), colored: false };
  },
};
READERS.gltf = READERS.glb;

// One kind of material for all, so that few programs of the graphics card are built.
function lambert(from) {
  const opacity = from.opacity ?? 1;
  return new MeshLambertMaterial({
    color: from.color ?? new Color(1, 1, 1),
    map: from.map ?? null,
    vertexColors: from.vertexColors ?? false,
    transparent: opacity < 0.99,
    opacity,
    alphaTest: from.alphaTest ?? 0,
    side: DoubleSide, // some files mix the orders of corners
  });
}

// Removes lights, cameras and lines, and counts corners.
function simplified(object) {
  const others = [];
  const known = new Map(); // materials
  let corners = 0;
  object.updateMatrixWorld(true);
  object.traverse((one) => {
    if (!one.isMesh) {
      if (one.isLight || one.isCamera || one.isLine || one.isPoints) others.push(one);
      return;
    }
    const { position } = one.geometry.attributes;
    corners += position?.count ?? 0;
    if (!position?.array.every(Number.isFinite)) throw new Error("a corner is not finite");
    if (!one.geometry.hasAttribute("normal")) one.geometry.computeVertexNormals();
    const plain = (material) => {
      if (!known.has(material)) known.set(material, lambert(material));
      return known.get(material);
    };
    one.material = Array.isArray(one.material) ? one.material.map(plain) : plain(one.material);
    one.frustumCulled = false;
    one.userData = { shared: "all" };
  });
  if (corners === 0) throw new Error("it has no triangle");
  if (corners > MOST_CORNERS) throw new Error(`it has more than ${MOST_CORNERS} corners`);
  for (const one of others) one.removeFromParent();
  return object;
}

export class Meshes {
  // asset(uri): a promise of the bytes of a file of the server.
  constructor(asset) {
    this.asset = asset;
    this.files = new Map(); // uri → file
    this.inside = []; // files inside messages
    this.bytes = 0;
  }

  // Calls done(object, lost) with a copy of the mesh, at once if it is here, or failed(error). `lost`
  // are the names of its missing textures. The colour [r, g, b, a] is for a file without materials,
  // and with `force` for any.
  put({ uri = "", media = "", data = null }, { colour, force = false }, done, failed) {
    const file = data?.length > 0 ? this.#ofData(media, data) : this.#ofUri(uri);
    const made = () => done(this.#copy(file, colour, force), file.lost);
    if (file.object) made();
    else if (file.error) failed(file.error);
    else file.ready.then(() => (file.error ? failed(file.error) : made()));
  }

  // Another server or a new connection may have the files that were missing.
  retry() {
    for (const [uri, file] of this.files) {
      if (!file.error) continue;
      this.bytes -= file.size;
      this.files.delete(uri);
    }
  }

  #ofUri(uri) {
    let file = this.files.get(uri);
    if (!file) {
      if (this.files.size >= MOST_FILES) return { error: new Error(`more than ${MOST_FILES} files`) };
      const suffix = /\.(\w+)$/.exec(uri)?.[1].toLowerCase() ?? "";
      file = this.#begin(uri, suffix, () => this.#fetch(uri));
      this.files.set(uri, file);
    }
    return file;
  }

  #ofData(media, data) {
    let file = this.inside.find((one) => one.media === media && same(one.data, data));
    if (!file) {
      const own = data.slice();
      file = this.#begin("", MEDIA[media] ?? "", async () => own);
      Object.assign(file, { media, data: own });
      this.inside.push(file);
      if (this.inside.length > MOST_INSIDE) this.bytes -= this.inside.shift().size;
    }
    return file;
  }

  #begin(uri, suffix, read) {
    const file = { object: null, colored: false, error: null, lost: [], size: 0, ready: null };
    file.ready = this.#read(file, uri, suffix, read).catch((error) => {
      file.error = error;
    });
    return file;
  }

  async #read(file, uri, suffix, read) {
    if (!(suffix in READERS)) throw new Error("this page shows dae, glb, gltf, obj and stl");
    const bytes = await read();
    this.#count(file, bytes);
    const addresses = new Map(); // name in the file → address in this page
    try {
      const libraries = await this.#neighbours(file, uri, suffix, bytes, addresses);
      const manager = new LoadingManager();
      manager.setURLModifier((url) =>
        /^(data|blob):/.test(url) ? url : (addresses.get(url) ?? WHITE),
      );
      const complete = new Promise((done) => {
        manager.onLoad = done;
      });
      manager.itemStart("mesh");
      const { object, colored } = await READERS[suffix](bytes, manager, libraries);
      manager.itemEnd("mesh");
      await complete; // textures
      file.colored = colored;
      file.object = simplified(object);
    } finally {
      for (const address of addresses.values()) URL.revokeObjectURL(address);
    }
  }

  // Fetches the files that this one names. Returns the texts of material libraries.
  async #neighbours(file, uri, suffix, bytes, addresses) {
    const libraries = [];
    for (const name of namesIn(suffix, bytes)) {
      const address = uri ? beside(uri, name) : null;
      const found = address && (await this.#fetch(address).catch(() => null));
      if (!found) {
        file.lost.push(name);
        continue;
      }
      this.#count(file, found);
      if (suffix === "obj") {
        libraries.push(utf8(found));
        await this.#neighbours(file, address, "mtl", found, addresses);
      } else {
        addresses.set(name, URL.createObjectURL(new Blob([found])));
      }
    }
    return libraries;
  }

  #fetch(uri) {
    return this.asset(uri).catch(() => {
      const remedy = uri.startsWith("package://") ? ", give it --packages FOLDER" : "";
      throw new Error(`the server has no such file${remedy}`);
    });
  }

  #count(file, { length }) {
    if (this.bytes + length > MOST_BYTES) {
      throw new Error(`the meshes of this page exceed ${MOST_BYTES >> 20} MB`);
    }
    file.size += length;
    this.bytes += length;
  }

  #copy({ object, colored }, [r, g, b, a], force) {
    const made = new Group().add(object.clone());
    if (colored && !force) return made;
    const material = new MeshLambertMaterial({
      color: new Color().setRGB(r, g, b, "srgb"),
      transparent: a < 0.99,
      opacity: a,
      side: DoubleSide,
    });
    made.traverse((one) => {
      if (one.isMesh) Object.assign(one, { material, userData: { shared: "geometry" } });
    });
    return made;
  }
}
