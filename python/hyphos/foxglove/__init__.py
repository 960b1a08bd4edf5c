"""A live view of the robot in Foxglove: `hyphos foxglove`. Needs foxglove-sdk, the extra `foxglove`
of this package. No other module imports this folder.

convert     converts standard messages to those of Foxglove's panels
offers      offered channels, and subscriptions to the channels that clients display
parameters  the parameters of nodes
times       real, simulated and replayed time
frames      WebSocket frames
relay       accepts clients, bounds the queue of each, and counts dropped messages
serve       the command
"""
