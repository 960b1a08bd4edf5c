"""Recording channels to MCAP files and replaying MCAP, ROS 1 and ROS 2 recordings."""
