"""The camera in Python: the array is a loan from the publisher, so publishing copies nothing."""

import sys

import hyphos
from hyphos.msgs import Image

node = hyphos.Node.open("camera", sys.argv)
image = node.publisher("image", hyphos.Attached[Image])


def draw() -> None:
    if image.listeners == 0:
        return
    pixels = image.loan(480 * 640).reshape(480, 640)
    pixels[:] = 42
    image.publish(hyphos.numpy_to_image(pixels))


node.every(draw, rate_hz=10)
node.spin()
