"""A live view of the robot in Foxglove: `hyphos foxglove`. Needs foxglove-sdk, the extra `foxglove`
of this package; nothing else imports this folder.

convert     the standard messages as Foxglove's panels know them
offers      channels that are offered, and the subscriptions to those that somebody looks at
parameters  those of the nodes
times       real, simulated and replayed time
frames      WebSocket frames
relay       the door for clients, where what waits is bounded and what is lost is counted
serve       the command
"""
