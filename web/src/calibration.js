// The place of an image in front of its camera, by a pinhole model. Pure.

// {x, y, width, height} of the whole image at a distance, in the optical frame: x to the right, y
// down. null if the calibration is not valid.
export function imagePlane({ width, height, K }, distance) {
  const [fx, , cx, , fy, cy] = K;
  if (!(fx > 0) || !(fy > 0) || !(width > 0) || !(height > 0)) return null;
  if (!Number.isFinite(cx + cy + fx + fy)) return null;
  return {
    x: ((width / 2 - cx) / fx) * distance,
    y: ((height / 2 - cy) / fy) * distance,
    width: (width / fx) * distance,
    height: (height / fy) * distance,
  };
}
