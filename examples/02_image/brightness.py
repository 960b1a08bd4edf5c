"""Reads pictures through a NumPy array that is a view of the publisher's memory."""

import sys

import hyphos
from hyphos.msgs import Image


def measure(image: hyphos.Attached[Image]) -> None:
    try:
        pixels = hyphos.image_to_numpy(image)
    except ValueError as error:  # the head does not match the pixels
        refusals.refuse("image", str(error))
        return
    if refusals.refuse("image", "" if pixels.size else "it has no pixels"):
        return
    how = "a copy" if pixels.flags.owndata or pixels.flags.writeable else "a read-only view"
    print(f"{pixels.shape[1]}×{pixels.shape[0]}, mean {pixels.mean():.1f}, {how}", flush=True)


node = hyphos.Node.open("brightness", sys.argv)
refusals = hyphos.Refusals(node)
node.subscribe("image", hyphos.Attached[Image], measure)
node.spin()
