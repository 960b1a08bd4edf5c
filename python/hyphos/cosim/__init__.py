"""The co-simulator: a radio network under a simulated robot team. `hyphos cosim` runs scenarios."""
