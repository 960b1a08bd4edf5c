"""A C header as a listing, and as an ABI that abidiff compares.

The listing comes from the compiler: a small program prints the size of each struct, the place of
each field and the value of each constant that the header names. Signatures are those of the text.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from goldens import Listing

_ABIDIFF_ERROR = 1 | 2  # bits of its exit code


def _compiler() -> str:
    found = shutil.which("cc") or shutil.which("gcc")
    assert found, "no C compiler: apt-get install g++"
    return found


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


def _one_line(text: str) -> str:
    return re.sub(r"\s*([*(),])\s*", r"\1", " ".join(text.split()))


def _code(header: Path) -> str:
    """The declarations of a header, without comments, directives and the C++ linkage block."""
    text = without_comments(header.read_text())
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
    text = re.sub(r'extern "C" \{(.*)\}', r"\1", text, flags=re.DOTALL)
    return re.sub(r"\bHYPHOS_API\b", "", text)


def _without_names(signature: str) -> str:
    """The signature without the names of the parameters, which callers do not use."""
    head, bracket, parameters = signature.rpartition("(")
    types = []
    for parameter in parameters.removesuffix(")").split(","):
        named = re.fullmatch(r"(.*[\s*])\w+", parameter)
        types.append(named[1].strip() if named else parameter)
    return f"{head}{bracket}{','.join(types)})"


def _structs(code: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The structs with a body: their name, and the declaration of each field by its name."""
    for body, name in re.findall(r"typedef struct \w* *\{(.*?)\} *(\w+) *;", code, re.DOTALL):
        fields = {}
        for line in filter(None, map(_one_line, body.split(";"))):
            pointer = re.search(r"\(\*(\w+)\)\(", line)
            found = pointer or re.search(r"(\w+)(?:\[\w+\])?$", line)
            assert found, f"{name}: the field '{line}' is not understood"
            fields[found[1]] = _without_names(line) if pointer else line
        yield name, fields


def _functions(code: str) -> Iterator[tuple[str, str]]:
    """The functions and function types: their name and their signature."""
    bare = re.sub(r"\{.*?\}", "", code, flags=re.DOTALL)
    for statement in map(_one_line, bare.split(";")):
        found = re.search(r"\(\*(\w+)\)\(", statement) or re.search(r"\b(\w+)\(", statement)
        if found:
            yield found[1], _without_names(statement.removeprefix("typedef "))


def _constants(header: Path, code: str) -> list[str]:
    names = re.findall(r"^#define (HYPHOS_\w+) [^\n(]", header.read_text(), re.MULTILINE)
    for body in re.findall(r"enum \w* *\{(.*?)\}", code, re.DOTALL):
        names += re.findall(r"\b(HYPHOS_\w+)", re.sub(r"= *[^,]+", "", body))
    return [name for name in names if name != "HYPHOS_API"]


def _opaque(code: str) -> list[str]:
    return re.findall(r"typedef struct (\w+) \1;", " ".join(code.split()))


def _printed(header: Path, lines: list[str]) -> list[str]:
    """The output of a C program with these statements after the header."""
    source = f'#include <stdio.h>\n#include <stddef.h>\n#include "{header}"\n'
    source += "int main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "print"
        words = [_compiler(), "-std=c11", "-w", "-x", "c", "-", "-o", str(program)]
        subprocess.run(words, input=source, check=True, text=True)
        out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return out.splitlines()


def listing(header: Path, number: str) -> Listing:
    """The structs, fields, constants and functions of a header. `number` names the constant that
    counts incompatible versions of the interface.

    A struct with `struct_size` may grow, so its size is not listed.
    """
    code = _code(header)
    structs = dict(_structs(code))
    statements = []
    for name in _constants(header, code):
        statements.append(f'printf("constant {name}\\t%lld\\n", (long long){name});')
    for name, fields in structs.items():
        size = "grows" if "struct_size" in fields else "%zu bytes"
        statements.append(f'printf("struct {name}\\t{size}\\n", sizeof({name}));')
        for one, text in fields.items():
            place = f"sizeof((({name}*)0)->{one}), offsetof({name}, {one})"
            format_ = f"field {name}.{one}\\t{text}, %zu bytes at %zu\\n"
            statements.append(f'printf("{format_}", {place});')
    pairs = [line.split("\t") for line in _printed(header, statements)]
    found: Listing = {name: int(value) if value.isdigit() else value for name, value in pairs}
    functions = {f"function {name}": text for name, text in _functions(code)}
    handles = {f"handle {name}": "opaque" for name in _opaque(code)}
    return {"number": found.pop(f"constant {number}")} | found | handles | functions


def functions(header: Path) -> list[str]:
    """The functions that a header declares, without types of functions."""
    return [name for name, text in _functions(_code(header)) if not text.count(f"(*{name})")]


def exported(library: Path) -> list[str]:
    """The symbols that a shared library exports."""
    words = ["nm", "-D", "--defined-only", "--format=posix", str(library)]
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return sorted(line.split()[0] for line in out.splitlines())


# --- abidiff ------------------------------------------------------------------------------------


def write_abi(header: Path, names: list[str], path: Path) -> None:
    """Writes the ABI of functions to an XML file of libabigail.

    abidw reads types from debug information, which a release does not have. So a library of
    pointers to the functions stands for them: its debug information has every type of the header
    that a function uses.
    """
    source = f'#include "{header}"\n' + "".join(
        f"__typeof__({name})* const function_{name} = {name};\n" for name in names
    )
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "libprobe.so"
        words = [_compiler(), "-g", "-std=gnu11", "-shared", "-fPIC", "-x", "c", "-"]
        subprocess.run([*words, "-o", str(library)], input=source, check=True, text=True)
        hidden = ["--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--no-architecture"]
        subprocess.run(["abidw", *hidden, "--out-file", str(path), str(library)], check=True)


def without_growth(text: str, kept: Listing) -> str:
    """The text of a header without the fields that were appended to structs with `struct_size`.
    libabigail cannot distinguish allowed growth."""

    def shortened(found: re.Match[str]) -> str:
        lines = [line for line in found[2].split(";") if line.strip()]
        if not any("struct_size" in line for line in lines):
            return found[0]
        fields = [name for _, names in _structs(found[0]) for name in names]
        while fields and f"field {found[3]}.{fields[-1]}" not in kept:
            fields.pop()
            lines.pop()
        return f"{found[1]}{''.join(f'{line};' for line in lines)}}} {found[3]};"

    struct = r"(typedef struct \w* *\{)(.*?)\} *(\w+) *;"
    return re.sub(struct, shortened, without_comments(text), flags=re.DOTALL)


def abi_changes(kept: Path, today: Path) -> tuple[bool, str]:
    """True if a change breaks programs, and the report of abidiff, which lists additions too."""

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        words = ["abidiff", "--no-corpus-path", *more, str(kept), str(today)]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        assert not done.returncode & _ABIDIFF_ERROR, done.stderr
        return done

    return run("--no-added-syms").returncode != 0, run().stdout
