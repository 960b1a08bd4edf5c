// Draws a foxglove.RawImage or foxglove.CompressedImage on a canvas of its size.
import { pixelsOf } from "./pixels.js";

export const IMAGES = ["foxglove.RawImage", "foxglove.CompressedImage"];
const TYPES = { jpeg: "image/jpeg", png: "image/png", webp: "image/webp", avif: "image/avif" };

function resize(canvas, width, height) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

// Rejects with the reason if the image cannot be drawn.
export async function paint(canvas, message) {
  const pen = canvas.getContext("2d");
  if (message.format === undefined) {
    const { width, height, rgba } = pixelsOf(message);
    resize(canvas, width, height);
    if (width > 0 && height > 0) pen.putImageData(new ImageData(rgba, width, height), 0, 0);
    return;
  }
  const type = TYPES[message.format];
  if (!type) throw new Error(`the format '${message.format}' is unknown`);
  const picture = await createImageBitmap(new Blob([message.data], { type }));
  resize(canvas, picture.width, picture.height);
  pen.drawImage(picture, 0, 0);
  picture.close();
}
