"""Shows arrays in `hyphos view`, which may start before or after this program."""

import sys

import hyphos
import numpy as np

node = hyphos.Node.open("show", sys.argv)
view = node.view()
angle = np.linspace(0, 20, 2000)
spiral = np.column_stack([np.cos(angle), np.sin(angle), angle / 10])
view.points("spiral", spiral, colors="orange")
view.line("axis", [(0, 0, 0), (0, 0, 2)], color="white")
node.spin()
