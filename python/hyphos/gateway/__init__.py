"""Gateways: programs of other systems as parts of the robot's graph. See `hyphos gateway`."""
