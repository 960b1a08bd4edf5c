// Occupancy grids and costmaps.
import {
  DataTexture,
  LinearMipmapLinearFilter,
  Mesh,
  MeshBasicMaterial,
  NearestFilter,
  PlaneGeometry,
  RGBAFormat,
  SRGBColorSpace,
} from "three";
import { gridPixels } from "../clouds.js";
import { poseOf } from "../frames.js";
import { Display } from "./display.js";

export class GridDisplay extends Display {
  constructor(channel) {
    super(channel);
    // Below everything else at the same height.
    this.material = new MeshBasicMaterial({
      transparent: true,
      depthWrite: false,
      polygonOffset: true,
      polygonOffsetFactor: 1,
      polygonOffsetUnits: 1,
    });
    this.mesh = new Mesh(new PlaneGeometry(1, 1), this.material);
    this.mesh.geometry.translate(0.5, 0.5, 0);
    this.mesh.renderOrder = -1;
    this.group.add(this.mesh);
    this.texture = null;
  }

  show(grid) {
    const { width, height, rgba } = gridPixels(grid);
    this.size = width * height;
    this.mesh.visible = this.size > 0;
    if (this.size === 0) return;
    const image = this.texture?.image;
    if (!image || image.width !== width || image.height !== height) {
      this.texture?.dispose();
      this.texture = new DataTexture(rgba, width, height, RGBAFormat);
      this.texture.colorSpace = SRGBColorSpace;
      this.texture.magFilter = NearestFilter;
      this.texture.minFilter = LinearMipmapLinearFilter;
      this.texture.generateMipmaps = true;
      this.material.map = this.texture;
      this.material.needsUpdate = true;
    } else {
      image.data = rgba;
    }
    this.texture.needsUpdate = true;
    const pose = poseOf(grid.pose);
    const x = width * (grid.cellSize?.x ?? 0);
    const y = height * (grid.cellSize?.y ?? 0);
    if (!pose || !Number.isFinite(x + y)) throw new Error("its place is not finite");
    this.mesh.position.set(...pose.t);
    this.mesh.quaternion.set(...pose.q);
    this.mesh.scale.set(x || 1e-6, y || 1e-6, 1);
  }
}
