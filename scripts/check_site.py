#!/usr/bin/env python3
"""check_site.py FOLDER: checks the built documentation site.

Each link leads to a file of the site and to an anchor that exists. No page loads a script, style,
font or picture from the network. Links to other sites are not fetched. Each page has a title of its
own and a text without markup."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes that load something when the page is shown. `href` loads only in <link>.
LOADS = {"src", "srcset", "data", "poster"}


# Markup of MyST and reStructuredText that Sphinx passed on as text. A warning does not report it.
MARKUP = re.compile(r"\.\. [\w:]+::|:::+\{|:\w+:`|``|^#{2,} ", re.MULTILINE)
CODE = {"pre", "code", "script", "style"}


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.title = ""
        self.markup: list[str] = []
        self._open: list[str] = []  # of CODE and title
        self.feed(text)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open == ["title"]:
            self.title += data
        elif not self._open and (found := MARKUP.search(data)):
            self.markup.append(data[found.start() :][:60])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in CODE | {"title"}:
            self._open.append(tag)
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value)
            elif name == "href" and tag != "link":
                self.links.append(value)
            elif name in LOADS or (name == "href" and tag == "link"):
                self.loaded.append(value)
            elif name == "style":
                self.loaded += styled(value)


def styled(text: str) -> list[str]:
    """The files that a style sheet loads."""
    found = re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", text)
    return [url or imported for url, imported in found]


def is_remote(link: str) -> bool:
    return link.startswith("//") or urlsplit(link).scheme in {"http", "https", "ftp", "ws", "wss"}


def check_text(pages: dict[Path, Page]) -> list[str]:
    problems = []
    titles: dict[str, Path] = {}
    for name, page in pages.items():
        problems += [f"{name}: markup as text: {text!r}" for text in page.markup]
        if not page.title or page.title.startswith("<"):
            problems.append(f"{name}: no title")
        if titles.setdefault(page.title, name) != name:
            problems.append(f"{name}: same title as {titles[page.title]}: {page.title}")
    return problems


def check(site: Path) -> list[str]:
    pages = {file.resolve(): Page(file.read_text()) for file in sorted(site.rglob("*.html"))}
    problems = check_text({file.relative_to(site): page for file, page in pages.items()})

    def check_target(file: Path, link: str) -> None:
        parts = urlsplit(link)
        if parts.scheme:
            return  # data:, mailto: and the like
        path = unquote(parts.path)
        target = (file.parent / path).resolve() if path else file
        if target.is_dir() or not target.exists():
            problems.append(f"{file.relative_to(site)}: no such file: {link}")
        elif target in pages and unquote(parts.fragment) not in pages[target].ids | {""}:
            problems.append(f"{file.relative_to(site)}: no such anchor: {link}")

    for file, page in pages.items():
        for link in page.links:
            if not is_remote(link):
                check_target(file, link)
        for link in page.loaded:
            if is_remote(link):
                problems.append(f"{file.relative_to(site)}: loads from the network: {link}")
            else:
                check_target(file, link)
    for sheet in site.rglob("*.css"):
        for link in styled(sheet.read_text()):
            if is_remote(link):
                problems.append(f"{sheet.relative_to(site)}: loads from the network: {link}")
    for script in site.rglob("*.js"):
        for link in re.findall(r"(?:fetch|import|importScripts)\(['\"](\w+://[^'\"]+)",
                               script.read_text()):  # fmt: skip
            problems.append(f"{script.relative_to(site)}: loads from the network: {link}")
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")
    return problems


if __name__ == "__main__":
    found = check(Path(sys.argv[1]).resolve())
    print(*found, sep="\n")
    sys.exit(bool(found))
