"""A live view of the robot in Foxglove: `hyphos foxglove`, and in browsers: `hyphos view --serve`.
Needs foxglove-sdk, the extra `foxglove` of this package. No other module imports this folder.

parts       values that several converters share
scene       markers
convert     converts standard messages to those of Foxglove's panels
assets      mesh files of robot models
offers      offered channels, and subscriptions to the channels that clients display
parameters  the parameters of nodes
times       real, simulated and replayed time
frames      WebSocket frames
waiting     the bounded queue of a client
sockets     listening sockets
gate        admits clients by the head of their request, and serves the page
relay       accepts clients, and counts dropped messages
state       the channel of counters for the page
playback    plays a recording
serve       the command `hyphos foxglove`
view        the option `--serve` of `hyphos view`
"""
