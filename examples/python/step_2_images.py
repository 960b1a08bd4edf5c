"""Step 2: images without copies. The camera draws pixels into the memory where the receiver reads
them. A second node turns them into an image of edges, and a viewer reads that image as an array.
The array is a view of the same memory.
"""

import itertools
import sys

import hyphos
import numpy as np
from hyphos.msgs import Image

HEIGHT, WIDTH = 480, 640

runtime = hyphos.Runtime.open(sys.argv)
camera = runtime.node("camera")  # a node lives as long as its object
images = camera.publisher("image", hyphos.Attached[Image])
edges = runtime.node("edges")
found = edges.publisher("edges", hyphos.Attached[Image])
viewer = runtime.node("viewer")
unfit, unseen = hyphos.Refusals(edges), hyphos.Refusals(viewer)
shifts = itertools.count(0, 5)


def grab() -> None:
    pixels = images.loan(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH)  # in shared memory if possible
    stripe = (np.arange(WIDTH) + next(shifts)) // 80  # stripes that move
    pixels[:] = stripe % 2 * 255
    images.publish(hyphos.numpy_to_image(pixels, "mono8"))


def unusable(image: hyphos.Attached[Image]) -> str:
    """The reason why an image cannot be used, or "" if it can."""
    head = image.head
    if head.encoding != "mono8" or head.width == 0 or head.height == 0:
        return f"not a mono8 image with pixels, but {head.width}×{head.height} {head.encoding}"
    try:
        hyphos.image_to_numpy(image)
    except ValueError as error:  # the head does not match the pixels
        return str(error)
    return ""


def find_edges(image: hyphos.Attached[Image]) -> None:
    if unfit.refuse("image", unusable(image)):
        return
    pixels = hyphos.image_to_numpy(image)  # a view
    result = found.loan(pixels.size).reshape(pixels.shape)
    result[:, 0] = 0
    np.not_equal(pixels[:, 1:], pixels[:, :-1], out=result[:, 1:].view(bool))
    found.publish(hyphos.numpy_to_image(result, "mono8"))


def show(image: hyphos.Attached[Image]) -> None:
    if unseen.refuse("edges", unusable(image)):
        return
    columns = np.flatnonzero(hyphos.image_to_numpy(image)[0])
    print("edges at columns", *columns, flush=True)


edges.subscribe("image", hyphos.Attached[Image], find_edges)
viewer.subscribe("edges", hyphos.Attached[Image], show)
camera.every(grab, rate_hz=10)
runtime.spin()
