"""C# names for protobuf definitions."""

from __future__ import annotations

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FileDescriptor

# Members of every object, and members of each generated class.
_TAKEN = {
    *("Equals", "Finalize", "GetHashCode", "GetType", "MemberwiseClone", "ReferenceEquals"),
    *("ToString", "Types"),
}


def pascal(word: str) -> str:
    """frame_id → FrameId, CONST_A → ConstA."""
    if word.isupper():
        word = word.lower()
    return "".join(part[:1].upper() + part[1:] for part in word.split("_") if part)


def namespace(file: FileDescriptor) -> str:
    return ".".join(pascal(part) for part in file.package.split(".")) or "Global"


def source_name(file: FileDescriptor) -> str:
    """hyphos/msgs/sensor.proto → HyphosMsgsSensor.cs."""
    parts = file.name.removesuffix(".proto").replace("-", "_").replace(".", "_").split("/")
    return "".join(pascal(part) for part in parts) + ".cs"


def type_name(kind: Descriptor | EnumDescriptor) -> str:
    """The qualified name. Types nested in a message are in its class `Types`, because a field may
    have the same name."""
    words = [kind.name]
    outer = kind.containing_type
    while outer is not None:
        words += ["Types", outer.name]
        outer = outer.containing_type
    return f"global::{namespace(kind.file)}." + ".".join(reversed(words))


def member_names(message: Descriptor) -> dict[int, str]:
    """The member name of each field, by field number: unique, and not reserved by C#."""
    taken = {message.name, *_TAKEN}
    names = {}
    for field in message.fields:
        name = pascal(field.name)
        if not name[:1].isalpha():
            name = "F" + name
        while name in taken or f"Has{name}" in taken:
            name += "_"
        taken |= {name, f"Has{name}"}
        names[field.number] = name
    return names


def value_names(enum: EnumDescriptor) -> list[str]:
    """The names of the values in order, without the enum's name as a prefix if all have it."""
    prefix = "".join(letter for letter in enum.name if letter != "_").upper() + "_"

    def short(word: str) -> str:
        cut = word[len(prefix) :] if word.startswith(prefix) else word
        return cut if cut[:1].isalpha() else word

    names: list[str] = []
    for value in enum.values:
        name = pascal(short(value.name))
        while name in names:
            name += "_"
        names.append(name)
    return names
