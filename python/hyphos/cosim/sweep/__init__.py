"""Runs of one's own scenario with every combination of varied keys."""
