"""Gateways: other systems' programs as parts of the robot's graph. `hyphos gateway` starts them."""
