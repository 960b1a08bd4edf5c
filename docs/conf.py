"""Sphinx configuration of the documentation site. `make docs` builds it (scripts/docs).

The source folder is the root of the repository, so links between pages are those of the files. The
index is docs/README.md. The order of its links is the order of the site, and a page without a link
is a warning. Links to other files and folders of the repository lead to pages with their text.
"""

from __future__ import annotations

import ast
import html
import importlib
import importlib.machinery
import importlib.util
import posixpath
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

from docutils import nodes
from sphinx import addnodes

ROOT = Path(__file__).resolve().parents[1]
XML = ROOT / "build/docs/doxygen/xml"

project = "Hyphos"
author = "The authors of Hyphos"
project_copyright = author
version = release = (
    re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE) or [""]
)[1]

extensions = ["breathe", "myst_parser", "sphinx.ext.autodoc"]
root_doc = "docs/README"
source_suffix = {".md": "markdown"}
include_patterns = [
    "*.md", "docs/**", "reports/**", "bench/README.md", "clients/*/README.md", "examples/README.md",
    "examples/*/README.md", "proto/README.md",
]  # fmt: skip
exclude_patterns = [".*", "build", "out", "dist", "tests"]

html_theme = "furo"
html_title = f"Hyphos {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path = ["_templates"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_additional_pages = {"index": "start.html"}
pygments_style = "friendly"
highlight_language = "text"  # of blocks without a language: diagrams and terminals

# MyST: anchors as on GitHub, and `:::{directive}` so that the pages have no fences of Sphinx.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
myst_url_schemes = {"http": None, "https": None, "mailto": None, "file-of-repository": None}
suppress_warnings = [
    "duplicate_declaration.cpp",  # each header opens the namespace again
    "misc.highlighting_failure",  # code with … in place of a part
]

breathe_projects = {"hyphos": str(XML)}
breathe_default_project = "hyphos"
breathe_default_members = ("members",)
breathe_domain_by_extension = {"hpp": "cpp", "h": "c"}
breathe_show_include = False
cpp_id_attributes = ["HYPHOS_EXPORT"]

autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    "inherited-members": "Handler, Filterer, BaseException, object",
}
autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autoclass_content = "both"
python_maximum_signature_line_length = 90
cpp_maximum_signature_line_length = 90
c_maximum_signature_line_length = 90
add_module_names = False

# --- The Python package, from the sources ---------------------------------------------------------


class _StubLoader(importlib.machinery.SourceFileLoader):
    """Executes the stub of the compiled module, with its annotations as text."""

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:  # type: ignore
        text = bytes(data).decode() if not isinstance(data, ast.AST) else data
        flags = __import__("__future__").annotations.compiler_flag
        return compile(text, path, "exec", flags=flags, dont_inherit=True, optimize=_optimize)


class _Messages(types.ModuleType):
    """Stands for a generated module of `hyphos.msgs`, so that no build is needed."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__module__": "hyphos.msgs"})


def import_stub() -> None:
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(ROOT / "python"))
    loader = _StubLoader("hyphos._hyphos", str(ROOT / "python/hyphos/_hyphos.pyi"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module
    loader.exec_module(module)
    families = [file.stem for file in (ROOT / "proto/hyphos/msgs").glob("*.proto")]
    for family in ("", *(f".{family}" for family in families)):
        sys.modules[f"hyphos.msgs{family}"] = _Messages(f"hyphos.msgs{family}")


import_stub()


def short_docstring(
    _app: Any, _what: str, _name: str, _obj: Any, _opts: Any, lines: list[str]
) -> None:
    """`code` of docstrings is code, not a reference. An indented paragraph is a program."""
    made: list[str] = []
    for line in lines:
        starts = line.startswith("    ") and made[-1:] == [""]
        if starts and (len(made) < 2 or not made[-2].startswith("    ")):
            made += [".. code-block:: python", ""]
        if line.startswith("    "):
            made.append(line)
        else:
            made.append(re.sub(r"(?<![`:\w])`([^`\n]+)`(?!`)", r"``\1``", line))
    lines[:] = made


def no_internal_signature(
    _app: Any, what: str, _name: str, _obj: Any, _opts: Any, signature: str, _returns: str
) -> tuple[str, None] | None:
    """Objects that other functions make: their constructor is not part of the interface."""
    return ("", None) if what == "class" and (signature or "").startswith("(core") else None


# --- The order of the pages -----------------------------------------------------------------------


# Pages that the index names only in its text, or not at all.
ELSEWHERE = ("README", "bench/README", "clients/csharp/README")
# These pages list the pages below them.
NESTED = ("reports/README", "examples/README", "docs/api/cpp", "docs/api/python")


def linked_pages(folder: str, text: str) -> list[str]:
    targets = re.findall(r"\]\(([^)#:\s]+\.md)\)", text)
    paths = [posixpath.normpath(posixpath.join(folder, target)) for target in targets]
    return [path.removesuffix(".md") for path in paths]


def toctree(caption: str, pages: list[str]) -> str:
    entries = "\n".join(f"/{page}" for page in pages)
    option = f":caption: {caption}\n" if caption else ""
    return f"\n:::{{toctree}}\n:hidden:\n{option}\n{entries}\n:::\n"


def captions(text: str) -> Iterator[tuple[str, str]]:
    """Each heading of the index with its text. A heading of level 3 follows that of level 2."""
    kind = ""
    for part in re.split(r"^(?=#{2,} )", text, flags=re.MULTILINE)[1:]:
        marks, _, heading = part.partition("\n")[0].partition(" ")
        if marks == "##":
            kind = heading.removesuffix(" pages")
            yield heading, part
        else:
            yield f"{kind}: {heading[0].lower()}{heading[1:]}", part


def toctrees(docname: str, text: str) -> str:
    """Hidden lists of pages in the order of the links. The index has one for each heading."""
    folder = posixpath.dirname(docname)
    if docname in NESTED:
        below = dict.fromkeys(linked_pages(folder, text))
        return toctree("", [page for page in below if page.startswith(f"{folder}/")])
    if docname != root_doc:
        return ""
    head = text.partition("\n## ")[0]  # its links repeat those below, or are of the last group
    groups = list(captions(text))
    made, seen = "", {root_doc}
    for caption, part in groups:
        last = part is groups[-1][1]
        pages = linked_pages(folder, part + head if last else part)
        pages = [page for page in dict.fromkeys(pages) if page not in seen]
        seen.update(pages)
        if last:
            pages += ELSEWHERE
        if pages:
            made += toctree(caption, pages)
    return made


# --- Links to files and folders -------------------------------------------------------------------

shown: set[str] = set()  # paths of files and folders that pages link to


def read_source(_app: Any, docname: str, content: list[str]) -> None:
    def target(found: re.Match[str]) -> str:
        path, _, _anchor = found[1].partition("#")
        file = (ROOT / docname).parent / path
        if not path or path.endswith((".md", ".svg", ".png")) or not file.exists():
            return found[0]
        page = file.resolve() / "README.md"
        if page.exists():
            return f"]({path.rstrip('/')}/README.md)"
        return f"](file-of-repository:{file.resolve().relative_to(ROOT)})"

    pieces = re.split(r"(^```.*?^```$|`[^`\n]*`(?!\]))", content[0], flags=re.DOTALL | re.MULTILINE)
    pieces[::2] = [re.sub(r"\]\(([^)\s:]+)\)", target, piece) for piece in pieces[::2]]
    content[0] = "".join(pieces)
    # Autodoc writes reStructuredText, and MyST would show that as text.
    content[0] = re.sub(
        r"^:::\{(auto\w+)\} (\S+)\n:::$",
        r"```{eval-rst}\n.. \1:: \2\n```",
        content[0],
        flags=re.MULTILINE,
    )
    content[0] += toctrees(docname, content[0])


def show_path(app: Any, doctree: nodes.document, docname: str) -> None:
    for node in doctree.findall(nodes.reference):
        scheme, _, path = node.get("refuri", "").partition(":")
        if scheme == "file-of-repository":
            node["refuri"] = app.builder.get_relative_uri(docname, f"files/{path}")
            node["internal"] = True


def linked_files() -> set[str]:
    """Files and folders that pages may link to: all of examples, and those that pages name."""
    found = set()
    for pattern in include_patterns:
        for page in ROOT.glob(pattern if pattern.endswith(".md") else f"{pattern}/*.md"):
            for link in re.findall(r"\]\(([^)\s:#]+)\)", page.read_text()):
                file = (page.parent / link).resolve()
                if file.exists() and file.is_relative_to(ROOT) and file.suffix != ".md":
                    found.add(str(file.relative_to(ROOT)))
    return found


def unwrap_namespace(_app: Any, doctree: nodes.document) -> None:
    """Shows the members of `namespace hyphos` without a level of their own for each header."""
    for node in list(doctree.findall(addnodes.desc)):
        if node[0].astext().strip() != "namespace hyphos":
            continue
        members = [part for part in node[1].children if not isinstance(part, nodes.paragraph)]
        node.replace_self([nodes.target("", "", ids=node[0]["ids"]), *members])


LEXERS = {".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".yaml": "yaml", ".cs": "csharp",
          ".proto": "proto", ".cmake": "cmake", ".dot": "dot"}  # fmt: skip


def file_pages(app: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    def text_of(file: Path) -> str:
        lexer = "cmake" if file.name == "CMakeLists.txt" else LEXERS.get(file.suffix, "text")
        return str(app.builder.highlighter.highlight_block(file.read_text(), lexer))

    for path in sorted(linked_files()):
        file = ROOT / path
        body = f"<h1>{html.escape(path)}</h1>"
        if file.is_dir():
            for one in sorted(file.iterdir()):
                if one.suffix in LEXERS or one.name == "CMakeLists.txt":
                    body += f"<h2>{html.escape(one.name)}</h2>" + text_of(one)
        elif file.suffix not in {".png", ".svg"}:
            body += text_of(file)
        yield f"files/{path}", {"title": path, "body": body}, "page.html"


# --- The interface is complete --------------------------------------------------------------------


def public_names() -> dict[str, set[str]]:
    """The public names of the headers by domain of Sphinx, from the XML of Doxygen."""
    names: dict[str, set[str]] = {"c": set(), "cpp": set()}
    for file in XML.glob("*.xml"):
        for compound in ElementTree.parse(file).iter("compounddef"):
            kind, scope = compound.get("kind"), compound.findtext("compoundname", "")
            if kind == "file" and scope == "hyphos_c.h":
                names["c"] |= members_of(compound, "", {"function"})
            if re.search(r"::detail|<", scope) or compound.get("prot") == "private":
                continue
            if kind in ("class", "struct") and scope.startswith("hyphos::"):
                names["cpp"].add(scope)
                names["cpp"] |= members_of(compound, f"{scope}::", {"function", "variable", "enum"})
            elif kind == "namespace" and scope == "hyphos":
                names["cpp"] |= members_of(compound, "hyphos::", {"function", "variable", "enum"})
    return names


def members_of(compound: Any, scope: str, kinds: set[str]) -> set[str]:
    found = set()
    for one in compound.iter("memberdef"):
        name = scope + one.findtext("name", "")
        # Doxygen repeats the members of a base class, which have the name of that class.
        own = one.findtext("qualifiedname", name) == name and one.get("prot") != "protected"
        if own and one.get("kind") in kinds and re.fullmatch(r"[\w:]+", name):
            found.add(name)
    return found


def check_api(_app: Any, env: Any) -> None:
    """Each public name of the headers and of the Python package is on a page."""
    wanted = public_names()
    wanted["py"] = {f"hyphos.{name}" for name in importlib.import_module("hyphos").__all__}
    for domain, names in wanted.items():
        shown = {found[0] for found in env.get_domain(domain).get_objects()}
        assert len(names) > 10, f"no names for the {domain} API"
        assert names <= shown, f"docs/api lacks {', '.join(sorted(names - shown))}"


def setup(app: Any) -> None:
    app.connect("source-read", read_source)
    app.connect("doctree-read", unwrap_namespace)
    app.connect("doctree-resolved", show_path)
    app.connect("html-collect-pages", file_pages)
    app.connect("env-updated", check_api)
    app.connect("autodoc-process-docstring", short_docstring)
    app.connect("autodoc-process-signature", no_internal_signature)
