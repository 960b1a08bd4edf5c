"""Types of ROS 1 and ROS 2: definitions, their identities on the wire, and their protobuf form.

definition.py  parses .msg, .srv and .action files (literals.py: values in them)
sources.py     finds such files, and detects their ROS version
library.py     all definitions of some folders, and their dependencies
derived.py     the messages that services and actions imply
common/        definitions of common packages
counterparts.py  the types of one ROS version for the other one
md5.py         the ROS 1 identity of a type
type_hash.py   the ROS 2 identity of a type
proto.py       the protobuf form, with options for the ROS wires (naming.py: its names)
importing.py   hyphos msg
"""
