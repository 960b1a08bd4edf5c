// The 3-D view: camera, frames and the loop that draws only when something has changed.
import {
  AmbientLight,
  Box3,
  BufferAttribute,
  BufferGeometry,
  Color,
  DirectionalLight,
  Group,
  LineBasicMaterial,
  LineSegments,
  PerspectiveCamera,
  Scene,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { colours, dark } from "./dom.js";

const HALF_GRID = 10; // metres
const DEPTH = { near: 0.02, far: 4000 };

// True if the processor draws. Smooth edges would take it several times as long.
function drawnInSoftware() {
  const context = document.createElement("canvas").getContext("webgl2");
  const names = context?.getExtension("WEBGL_debug_renderer_info");
  const name = names ? String(context.getParameter(names.UNMASKED_RENDERER_WEBGL)) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

export class View {
  constructor(place, frames) {
    this.place = place;
    this.frames = frames;
    this.fixed = "";
    this.wished = ""; // fixed frame that the user has chosen
    this.follow = "";
    this.followed = null; // last position of the followed frame
    this.displays = new Map(); // by topic
    this.drawn = 0; // pictures
    this.before = []; // functions to call before a picture
    this.dirty = false;
    this.timer = 0;
    this.inSoftware = drawnInSoftware();
    this.readyMs = 0; // earliest time of the next picture
    this.renderer = new WebGLRenderer({ antialias: !this.inSoftware });
    this.renderer.setPixelRatio(this.inSoftware ? 1 : devicePixelRatio || 1);
    place.append(this.renderer.domElement);
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(50, 1, DEPTH.near, DEPTH.far);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener("change", () => this.request());
    this.touched = false; // by the user, or by the first data
    this.controls.addEventListener("start", () => (this.touched = true));
    this.content = new Group();
    this.scene.add(this.content, new AmbientLight(0xffffff, 1.6));
    const light = new DirectionalLight(0xffffff, 1.6);
    light.position.set(3, 2, 5);
    this.scene.add(light);
    this.grid = this.#grid();
    this.scene.add(this.grid);
    this.#recolour();
    dark.addEventListener("change", () => {
      this.#recolour();
      this.request();
    });
    this.home();
    this.touched = false;
    new ResizeObserver(() => this.#resize()).observe(place);
    this.renderer.domElement.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.lost = true;
    });
    this.renderer.domElement.addEventListener("webglcontextrestored", () => {
      this.lost = false;
      this.request();
    });
  }

  #grid() {
    const points = [];
    for (let i = -HALF_GRID; i <= HALF_GRID; ++i) {
      points.push(i, -HALF_GRID, 0, i, HALF_GRID, 0, -HALF_GRID, i, 0, HALF_GRID, i, 0);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
    return new LineSegments(geometry, new LineBasicMaterial());
  }

  #recolour() {
    const { scene, line } = colours();
    this.scene.background = new Color(scene);
    this.grid.material.color = new Color(line);
  }

  // A canvas of another size is empty, so the picture follows at once.
  #resize() {
    const { clientWidth: width, clientHeight: height } = this.place;
    const size = this.renderer.getSize(new Vector2());
    if (width === 0 || height === 0 || (size.x === width && size.y === height)) return;
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.#draw();
  }

  // Asks for a picture. Many requests before it are one.
  request() {
    if (this.dirty) return;
    this.dirty = true;
    const waitMs = this.readyMs - performance.now();
    if (waitMs > 0) setTimeout(() => requestAnimationFrame(() => this.#draw()), waitMs);
    else requestAnimationFrame(() => this.#draw());
  }

  // Waits for the end of a picture that the processor draws. The next one leaves it as much time for
  // other work, for example for the robot.
  #rest(beginMs) {
    const context = this.renderer.getContext();
    context.readPixels(0, 0, 1, 1, context.RGBA, context.UNSIGNED_BYTE, new Uint8Array(4));
    const nowMs = performance.now();
    this.readyMs = nowMs + (nowMs - beginMs);
  }

  #draw() {
    this.dirty = false;
    if (this.lost) return;
    const beginMs = performance.now();
    for (const step of this.before) step();
    this.choose();
    for (const display of this.displays.values()) display.update(this);
    this.#move();
    this.renderer.render(this.scene, this.camera);
    ++this.drawn;
    if (this.inSoftware) this.#rest(beginMs);
  }

  // The fixed frame is that of the user while it exists, else the usual one.
  choose() {
    const names = this.frames.names();
    if (this.wished && (names.includes(this.wished) || names.length === 0))
      this.fixed = this.wished;
    else this.fixed = this.frames.usual() || this.firstFrame();
  }

  // A remark about the whole picture, or "".
  note() {
    if (this.frames.size > 0) return "";
    const frames = new Set();
    for (const { frame } of this.displays.values()) if (frame) frames.add(frame);
    if (frames.size < 2) return "";
    return "No transform has come, so that all frames are drawn at the origin.";
  }

  firstFrame() {
    for (const display of this.displays.values()) if (display.frame) return display.frame;
    return "";
  }

  // The pose of a frame at a time in the fixed frame. Without any transform, all frames are one.
  locate(frame, ns) {
    if (!frame || this.frames.size === 0) return { t: [0, 0, 0], q: [0, 0, 0, 1] };
    return this.frames.lookup(this.fixed, frame, ns);
  }

  #move() {
    if (!this.follow) {
      this.followed = null;
      return;
    }
    const pose = this.locate(this.follow, null);
    if (pose.error) return;
    if (this.followed) {
      const way = new Vector3(...pose.t).sub(this.followed);
      this.camera.position.add(way);
      this.controls.target.add(way);
      this.controls.update();
    }
    this.followed = new Vector3(...pose.t);
  }

  home() {
    this.touched = true;
    this.#look(new Vector3(0, 0, 0), new Vector3(-7, -7, 8));
  }

  top() {
    const { target } = this.controls;
    const distance = this.camera.position.distanceTo(target);
    this.#look(target.clone(), new Vector3(0, -1e-3, distance));
  }

  // Shows everything once the first data are there, unless the user has moved the camera.
  fitFirst() {
    const some = [...this.displays.values()].some((one) => one.messages > 0 && one.group.visible);
    if (this.touched || !some) return;
    this.fit();
  }

  // Shows everything that is displayed.
  fit() {
    this.touched = true;
    const box = new Box3();
    for (const display of this.displays.values()) {
      if (display.group.visible) box.expandByObject(display.group);
    }
    if (box.isEmpty() || !Number.isFinite(box.min.x + box.max.x)) return;
    const centre = box.getCenter(new Vector3());
    const radius = Math.max(0.5, box.getSize(new Vector3()).length() / 2);
    const wide = Math.min(1, this.camera.aspect);
    const distance = radius / Math.sin((this.camera.fov * Math.PI) / 360) / wide;
    const way = this.camera.position.clone().sub(this.controls.target).normalize();
    this.#look(centre, way.multiplyScalar(Math.min(distance, DEPTH.far / 2)));
  }

  #look(target, way) {
    this.controls.target.copy(target);
    this.camera.position.copy(target).add(way);
    this.controls.update();
    this.request();
  }

  zoom(factor) {
    const way = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.#look(this.controls.target.clone(), way);
  }

  add(topic, display) {
    this.displays.set(topic, display);
    this.content.add(display.group);
    this.request();
  }

  remove(topic) {
    const display = this.displays.get(topic);
    if (!display) return;
    this.displays.delete(topic);
    this.content.remove(display.group);
    display.dispose();
    this.request();
  }

  // Forgets all messages, as after a jump in time.
  clear() {
    for (const display of this.displays.values()) display.clear();
    this.request();
  }
}
