"""Decides about each new connection by the head of its HTTP request: a client of the protocol, a
request for the page, or a refusal. No I/O."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import ipaddress
import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

MOST_HEAD = 16 << 10  # bytes of a request
END_OF_HEAD = b"\r\n\r\n"
_PROTOCOL, _OLD_PROTOCOL = "foxglove.sdk.v1", "foxglove.websocket.v1"
_LABEL = re.compile(r"[A-Za-z0-9-]{1,32}")
_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')
_APPS = ("https://app.foxglove.dev",)  # may connect without a token, like programs of this machine


@dataclass(frozen=True)
class Request:
    """The head of an HTTP request. Header names are in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    head: bytes

    @property
    def is_web_socket(self) -> bool:
        return self.headers.get("upgrade", "").lower() == "websocket"

    @property
    def label(self) -> str:
        """The name that the client has given itself, or ""."""
        label = self.query.get("client", "")
        return label if _LABEL.fullmatch(label) else ""

    @property
    def token(self) -> str:
        kind, _, value = self.headers.get("authorization", "").partition(" ")
        return value.strip() if kind.lower() == "bearer" else self.query.get("token", "")

    @property
    def needs_translation(self) -> bool:
        """True for a client that knows only the older name of the protocol, as Lichtblick does.
        The SDK refuses that name, but both names stand for the same messages."""
        offered = re.split(r"\s*,\s*", self.headers.get("sec-websocket-protocol", "").strip())
        return _OLD_PROTOCOL in offered and _PROTOCOL not in offered

    @property
    def translated(self) -> bytes:
        """The head with the protocol's name that the SDK accepts."""
        if not self.needs_translation:
            return self.head
        return self.head.replace(_OLD_PROTOCOL.encode(), _PROTOCOL.encode())


def translated_reply(head: bytes) -> bytes:
    """The reply of the SDK with the name that the client has offered."""
    return head.replace(_PROTOCOL.encode(), _OLD_PROTOCOL.encode())


def parse_request(head: bytes) -> Request:
    """Parses a complete head. ValueError if it is not HTTP/1."""
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise ValueError("the request is not HTTP/1")
    address = urlsplit(words[1])
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip():
            raise ValueError("the request has an invalid header")
        headers[name.lower()] = value.strip()
    query = {name: values[-1] for name, values in parse_qs(address.query).items()}
    return Request(words[0], address.path, query, headers, head)


@dataclass(frozen=True)
class Reply:
    """A complete reply, after which the connection ends."""

    data: bytes
    refused: str = ""  # reason of a refusal, for people


class Gate(Protocol):
    def admit(self, request: Request) -> Reply | None:
        """None: the connection is one of a client. Else the reply to send."""


class OpenGate:
    """Admits every client. The SDK replies to all else."""

    def admit(self, _request: Request) -> Reply | None:
        return None


def reply(
    status: HTTPStatus, body: bytes = b"", kind: str = "text/plain; charset=utf-8", **more: str
) -> bytes:
    headers = {
        "Content-Type": kind,
        "Content-Length": str(len(body)),
        "Connection": "close",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    lines = [f"HTTP/1.1 {status.value} {status.phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + END_OF_HEAD + body


class Page:
    """The built page. Its policy, which names the hashes of its script and style, is a header, too:
    only there it can forbid frames."""

    def __init__(self, file: Path) -> None:
        text = file.read_text()
        found = _POLICY.search(text)
        if found is None:
            raise ValueError(f"{file} has no Content-Security-Policy")
        self._policy = f"{found[1]}; frame-ancestors 'none'"
        self.plain = text.encode()
        self._packed = gzip.compress(self.plain, mtime=0)

    def reply(self, *, packed: bool, body: bool) -> bytes:
        data = self._packed if packed else self.plain
        more = {"Content_Encoding": "gzip"} if packed else {}
        made = reply(
            HTTPStatus.OK,
            data,
            "text/html; charset=utf-8",
            Content_Security_Policy=self._policy,
            Vary="Accept-Encoding",
            **more,
        )
        return made if body else made[: made.index(END_OF_HEAD) + len(END_OF_HEAD)]


def is_loopback(host: str) -> bool:
    """True if a host name or address means this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _host_of(text: str) -> str:
    """ "localhost" of "localhost:8080", "::1" of "[::1]:8080"."""
    try:
        return urlsplit(f"//{text}").hostname or ""
    except ValueError:
        return ""


class PageGate:
    """Serves the page to everyone, since it holds no data. Admits clients that give the token.

    Without a token it admits the programs of this machine, and pages that this machine serves. A
    page of another server could otherwise read the robot through the browser of its reader. A name
    that resolves to this machine does not make a page one of this machine, so the header Host
    counts.
    """

    def __init__(self, page: Page, token: str = "") -> None:
        self._page = page
        self._token = hashlib.sha256(token.encode()).digest() if token else b""

    def admit(self, request: Request) -> Reply | None:
        if not self._token and (reason := self._foreign(request)):
            return self._refuse(HTTPStatus.FORBIDDEN, reason)
        if request.is_web_socket:
            return self._without_token(request)
        if request.method not in ("GET", "HEAD"):
            return Reply(reply(HTTPStatus.METHOD_NOT_ALLOWED, Allow="GET, HEAD"))
        if request.path == "/":
            packed = "gzip" in request.headers.get("accept-encoding", "")
            return Reply(self._page.reply(packed=packed, body=request.method == "GET"))
        if request.path == "/access":
            return self._without_token(request) or Reply(reply(HTTPStatus.NO_CONTENT))
        return Reply(reply(HTTPStatus.NOT_FOUND, b"this server has one page, at /\n"))

    def _without_token(self, request: Request) -> Reply | None:
        given = hashlib.sha256(request.token.encode()).digest()
        if not self._token or hmac.compare_digest(given, self._token):
            return None
        reason = "a wrong token" if request.token else "no token"
        return self._refuse(HTTPStatus.UNAUTHORIZED, reason, WWW_Authenticate="Bearer")

    def _foreign(self, request: Request) -> str:
        """The reason why a request does not come from this machine. "" if it does."""
        host = request.headers.get("host", "")
        if not is_loopback(_host_of(host)):
            return f"the address {host[:80]!r} is not this machine: give --token"
        origin = request.headers.get("origin", "")
        # Desktop applications have origins such as file://.
        from_page = origin == "null" or re.match(r"https?://", origin)
        if not from_page or origin in _APPS:
            return ""
        if is_loopback(_host_of(origin.partition("://")[2])):
            return ""
        return f"a page of {origin[:80]!r} may not connect: give --token"

    @staticmethod
    def _refuse(status: HTTPStatus, reason: str, **more: str) -> Reply:
        body = json.dumps({"error": reason}).encode()
        return Reply(reply(status, body, "application/json", **more), reason)
