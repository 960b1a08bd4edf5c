"""The capacity of a machine and its links: measurement, model, and prediction for a robot.yaml."""
