"""Prepares the XML of Doxygen for Breathe: `public_xml.py FOLDER`.

Doxygen writes private members and the names of `hyphos::detail` into its XML, whatever its options.
Breathe shows everything in a file, so this program removes them. Their own files stay, because
other files refer to them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

SEPARATOR = re.compile(r"(?<=\d) ?'(?=\d)")
DETAIL = re.compile(r"(^|::)detail(::|$)")


def is_internal(part: ElementTree.Element) -> bool:
    if part.tag == "sectiondef":
        return part.get("kind", "").startswith("private-")
    if part.tag in ("innerclass", "innernamespace"):
        return part.get("prot") == "private" or bool(DETAIL.search(part.text or ""))
    return False


def convert(file: Path) -> None:
    tree = ElementTree.parse(file)
    for parent in list(tree.iter()):
        for part in [part for part in parent if is_internal(part)]:
            parent.remove(part)
    for part in tree.iter("initializer"):
        # Sphinx cannot read `{.name = value}` as a default.
        part.text = re.sub(r"^(= \{)\.\w+ = ", r"\1", part.text or "")
    # Doxygen writes the literal 10'000 as "10 '000", which Sphinx cannot read.
    for outer in (part for tag in ("argsstring", "defval") for part in tree.iter(tag)):
        for part in outer.iter():
            part.text = SEPARATOR.sub("", part.text) if part.text else part.text
            part.tail = SEPARATOR.sub("", part.tail) if part.tail else part.tail
    tree.write(file, encoding="UTF-8", xml_declaration=True)


for found in Path(sys.argv[1]).glob("*.xml"):
    convert(found)
