"""What a machine and its links can carry: measured, modelled, and asked of a robot.yaml."""
