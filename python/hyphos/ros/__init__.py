"""Types of ROS 1 and ROS 2: definitions, what the wires know them by, and their protobuf form.

definition.py  .msg, .srv and .action files, read into what they say (literals.py: values in them)
sources.py     where such files lie, and of which ROS they are
library.py     all definitions of some folders, and what each needs of the others
derived.py     the messages that services and actions imply
md5.py         what ROS 1 knows a type by
type_hash.py   what ROS 2 knows a type by
proto.py       the protobuf form, with options for what wires need besides (naming.py: its names)
importing.py   hyphos msg
"""
