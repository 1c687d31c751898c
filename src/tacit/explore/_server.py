"""The server of the page: this computer only, one page, a few files, and the answers."""

import contextlib
import json
import sys
import threading
from collections.abc import Iterator
from functools import cached_property, lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any, final
from urllib.parse import parse_qs, urlsplit

from tacit._errors import UsageError
from tacit._version import __version__
from tacit.explore._section import Section
from tacit.explore._sections import SECTIONS
from tacit.explore._slider import read_all
from tacit.site import plotly_script, site_asset

LOOPBACK = "127.0.0.1"
_TYPES = {"css": "text/css", "js": "text/javascript"}
_OF_THE_SITE = ("style.css", "report.js")
_OURS = ("explore.css", "explore.js")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)  # Plotly writes styles into the page, and nothing else that the policy would have to allow


class _Server(ThreadingHTTPServer):
    """It knows which answers are under way: a process must not end inside JAX's compiler."""

    daemon_threads = True
    request_queue_size = 128  # a page asks for many answers at once; five would lose some

    def __init__(self, port: int) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self._under_way, self._changed = 0, threading.Condition()

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Around the making of an answer."""
        with self._changed:
            self._under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is no news: the terminal shows the address and no more."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def end(self) -> None:
        """Take no more requests, and let what is under way come to its end."""
        self.shutdown()
        self.server_close()
        with self._changed:
            self._changed.wait_for(lambda: not self._under_way)


@final
class Explorer:
    """The page at an address of this computer that nobody else can reach.

    As a context it listens inside it, and leaves when the answer under way is given.

    **Arguments:**

    - `port`: of the address; 0 takes a free one.
    """

    def __init__(self, *, port: int = 0) -> None:
        if plotly_script() is None:
            raise UsageError("explore: Plotly is not installed: pip install plotly")
        try:
            self._server = _Server(port)
        except OSError as error:
            raise UsageError(
                f"--port: {port} cannot be used ({error.strerror}), leave it out to take a free one"
            ) from None
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @cached_property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{LOOPBACK}:{self._server.server_address[1]}/"

    def __enter__(self) -> "Explorer":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.end()

    def wait(self) -> None:
        """Answer until somebody interrupts."""
        while self._thread.is_alive():
            self._thread.join(0.5)


@lru_cache(maxsize=1)
def page() -> bytes:
    """The page, with its sliders where they stand first."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("tacit.explore", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made = templates.get_template("explore.html").render(sections=SECTIONS, version=__version__)
    return made.encode()


@lru_cache(maxsize=8)
def _file(name: str) -> bytes | None:
    if name == "plotly.min.js":
        return plotly_script()
    if name in _OF_THE_SITE:
        return site_asset(name)
    if name in _OURS:
        return (resources.files("tacit.explore") / "assets" / name).read_bytes()
    return None


def answered(section: Section, query: str) -> dict[str, Any]:
    """What a section answers to a query; a `ValueError` in words if the query is wrong."""
    given = parse_qs(query, keep_blank_values=True, max_num_fields=20)
    return section.answer(**read_all(section.sliders, given)).to_json()


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 30
    server_version, sys_version = "tacit", ""

    def do_GET(self) -> None:
        if not self._from_this_page():
            self._say(HTTPStatus.FORBIDDEN, "this page answers only itself, on this computer")
            return
        try:
            place = urlsplit(self.path)
        except ValueError:
            self._say(HTTPStatus.BAD_REQUEST, "this is no address")
            return
        name = place.path.removeprefix("/")
        if not name:
            self._send(HTTPStatus.OK, page(), "text/html")
            return
        head, _, wanted = name.partition("/")
        section = next((one for one in SECTIONS if one.id == wanted), None)
        if head == "answer" and section is not None:
            self._answer(section, place.query)
        elif (data := _file(name)) is not None:
            self._send(HTTPStatus.OK, data, _TYPES[name.rpartition(".")[2]])
        else:
            self._say(HTTPStatus.NOT_FOUND, "there is nothing at this address")

    def _answer(self, section: Section, query: str) -> None:
        try:
            with self.server.answering():
                found = answered(section, query)
        except ValueError as error:
            self._say(HTTPStatus.BAD_REQUEST, str(error))
            return
        except Exception as error:  # a bug of ours: the other parts of the page go on
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, f"the answer failed: {error!r}")
            return
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        self._send(HTTPStatus.OK, text.encode(), "application/json")

    def _from_this_page(self) -> bool:
        """Whether a request names us: a page of somebody else that was led here does not."""
        port = self.connection.getsockname()[1]
        ours = {f"{host}:{port}" for host in (LOOPBACK, "localhost")}
        origin = self.headers.get("Origin")
        return (
            self.headers.get_all("Host", [""])[0] in ours
            and len(self.headers.get_all("Host", [])) == 1
            and (origin is None or origin.removeprefix("http://") in ours)
            and self.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        )

    def _say(self, status: HTTPStatus, words: str) -> None:
        text = json.dumps({"error": words}, ensure_ascii=False)
        self._send(status, text.encode(), "application/json")

    def _send(self, status: HTTPStatus, data: bytes, kind: str) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(data)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": _POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words: object) -> None:
        """Say nothing: the terminal shows the address and no more."""
