"""`hyphos demo`: a robot maps a simulated building, and the recording shows how well.

The folder `patrol` has the robot: its plan, its plug-ins and its Python node. Their source is
examples/patrol.
"""
