// Lines, axes and texts that several displays draw.
import {
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  Line,
  LineBasicMaterial,
  LineSegments,
  SRGBColorSpace,
  Sprite,
  SpriteMaterial,
} from "three";
import { rotate } from "../frames.js";

const RED = [0.9, 0.22, 0.2];
const GREEN = [0.2, 0.7, 0.25];
const BLUE = [0.22, 0.42, 0.95];

// The axes of many poses in one draw call.
export class Axes {
  constructor(length) {
    this.length = length;
    this.object = new LineSegments(
      new BufferGeometry(),
      new LineBasicMaterial({ vertexColors: true }),
    );
    this.object.frustumCulled = false;
  }

  set(poses) {
    const positions = new Float32Array(18 * poses.length);
    const colours = new Float32Array(18 * poses.length);
    let at = 0;
    for (const { t, q } of poses) {
      for (const [unit, colour] of [
        [[1, 0, 0], RED],
        [[0, 1, 0], GREEN],
        [[0, 0, 1], BLUE],
      ]) {
        const way = rotate(q, unit);
        positions.set(t, at);
        positions.set(
          t.map((value, i) => value + this.length * way[i]),
          at + 3,
        );
        colours.set(colour, at);
        colours.set(colour, at + 3);
        at += 6;
      }
    }
    const { geometry } = this.object;
    geometry.dispose();
    geometry.setAttribute("position", new BufferAttribute(positions, 3));
    geometry.setAttribute("color", new BufferAttribute(colours, 3));
  }
}

// A line through points [[x, y, z], …].
export class Way {
  constructor(colour) {
    this.object = new Line(
      new BufferGeometry(),
      new LineBasicMaterial({ color: new Color(colour) }),
    );
    this.object.frustumCulled = false;
  }

  set(points) {
    const { geometry } = this.object;
    geometry.dispose();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(points.flat()), 3));
  }
}

// A text that faces the camera, with a size on the screen, or in metres if `metres` is given. A halo
// keeps it readable on any ground.
export function label(text, colour, { metres = 0, halo = "" } = {}) {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  const font = "600 32px system-ui, sans-serif";
  pen.font = font;
  canvas.width = Math.min(2048, Math.ceil(pen.measureText(text).width) + 12);
  canvas.height = 44;
  pen.font = font;
  pen.textBaseline = "middle";
  if (halo) {
    pen.strokeStyle = halo;
    pen.lineWidth = 6;
    pen.lineJoin = "round";
    pen.strokeText(text, 6, 23);
  }
  pen.fillStyle = colour;
  pen.fillText(text, 6, 23);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  const sprite = new Sprite(
    new SpriteMaterial({
      map: texture,
      sizeAttenuation: metres > 0,
      depthTest: metres > 0,
      transparent: true,
    }),
  );
  const height = metres > 0 ? metres : 0.028;
  sprite.scale.set((height * canvas.width) / canvas.height, height, 1);
  sprite.center.set(metres > 0 ? 0.5 : -0.05, 0.5);
  return sprite;
}

// Frees the memory of the graphics card. An object with `userData.shared` keeps its geometry, and
// with "all" also its materials, because other objects have them too.
export function release(object) {
  object.traverse((one) => {
    const { shared } = one.userData;
    if (!shared) one.geometry?.dispose();
    for (const material of shared === "all" ? [] : [one.material].flat()) {
      material?.map?.dispose();
      material?.dispose();
    }
    one.dispose?.();
  });
}

export function discard(object) {
  object.removeFromParent();
  release(object);
}
