// A camera image in space, one metre in front of its camera.
import {
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  DoubleSide,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  PlaneGeometry,
  SRGBColorSpace,
} from "three";
import { imagePlane } from "../calibration.js";
import { colours } from "../dom.js";
import { paint } from "../picture.js";
import { Display } from "./display.js";

const DISTANCE = 1; // metres

export class ImageDisplay extends Display {
  constructor(channel, { calibrations, request }) {
    super(channel);
    this.calibrations = calibrations;
    this.request = request;
    this.canvas = document.createElement("canvas");
    this.material = new MeshBasicMaterial({ side: DoubleSide });
    this.mesh = new Mesh(new PlaneGeometry(1, 1), this.material);
    this.lines = new LineSegments(
      new BufferGeometry(),
      new LineBasicMaterial({ color: new Color(colours().series[0]) }),
    );
    this.group.add(this.mesh, this.lines);
    this.placed = null; // the calibration of the present place
  }

  show(message) {
    const calibration = this.calibrations.get(message.frameId);
    if (!calibration) throw new Error(`no calibration of the frame '${message.frameId}' has come`);
    if (calibration !== this.placed) this.#place(calibration);
    // The next picture shows it, since a compressed image takes a while.
    paint(this.canvas, message).then(
      () => this.#texture(),
      (error) => {
        this.problem = error.message;
      },
    );
  }

  #place(calibration) {
    const plane = imagePlane(calibration, DISTANCE);
    if (!plane) throw new Error("its calibration has no valid focal length");
    this.placed = calibration;
    const { x, y, width, height } = plane;
    this.mesh.position.set(x, y, DISTANCE);
    this.mesh.scale.set(width, -height, 1); // the first row is at the smallest y
    const corners = [
      [x - width / 2, y - height / 2],
      [x + width / 2, y - height / 2],
      [x + width / 2, y + height / 2],
      [x - width / 2, y + height / 2],
    ];
    const points = corners.flatMap((corner, i) => [
      ...[0, 0, 0, ...corner, DISTANCE],
      ...[...corner, DISTANCE, ...corners[(i + 1) % 4], DISTANCE],
    ]);
    this.lines.geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  }

  #texture() {
    const { width, height } = this.canvas;
    if (width === 0 || height === 0) return;
    const old = this.material.map;
    if (!old || this.size !== width * height) {
      old?.dispose();
      this.material.map = new CanvasTexture(this.canvas);
      this.material.map.colorSpace = SRGBColorSpace;
      this.material.needsUpdate = true;
      this.size = width * height;
    }
    this.material.map.needsUpdate = true;
    this.request();
  }
}
