"""The page's server: who is answered, and with what."""

import dataclasses
import http.client
import json
import socket
import struct
import threading
import time

import pytest

from tacit.explore import SECTIONS, Explorer, _server


@pytest.fixture(scope="module")
def explorer():
    with Explorer() as started:
        yield started


@pytest.fixture
def ask(explorer):
    port = int(explorer.address.rstrip("/").rpartition(":")[2])

    def asked(place, *, host=f"127.0.0.1:{port}", method="GET", **headers):
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        link.putrequest(method, place, skip_host=True)
        for name, value in {"Host": host, **headers}.items():
            if value is not None:
                link.putheader(name.replace("_", "-"), value)
        link.endheaders()
        reply = link.getresponse()
        reply.body = reply.read()
        link.close()
        return reply

    asked.port = port
    return asked


def test_the_page_has_every_slider_and_loads_nothing_from_elsewhere(ask):
    page = ask("/")
    assert page.status == 200
    rules = dict(one.split(" ", 1) for one in page.headers["Content-Security-Policy"].split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["script-src"] == rules["connect-src"] == "'self'"
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Cache-Control"] == "no-store"  # another tacit may stand here tomorrow
    text = page.body.decode()
    assert text.count('type="range"') == sum(len(section.sliders) for section in SECTIONS)
    assert "//" not in text.replace("<!DOCTYPE html>", "")
    for name in ("style.css", "explore.css", "report.js", "explore.js", "plotly.min.js"):
        assert name in text
        assert ask(f"/{name}").status == 200
    answer = json.loads(ask("/answer/depth?depth=4").body)
    assert "depth=4" in answer["call"]


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:1"},
        {"host": None},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
    ids=str,
)
def test_a_page_of_somebody_else_gets_no_answer(ask, headers):
    reply = ask("/answer/depth", **headers)
    assert reply.status == 403
    assert json.loads(reply.body) == {"error": "this page answers only itself, on this computer"}


def test_a_request_with_two_hosts_gets_no_answer(ask):
    host = b"Host: 127.0.0.1:%d\r\n" % ask.port
    for second in (b"Host: evil.example\r\n", host):
        with socket.create_connection(("127.0.0.1", ask.port), timeout=20) as link:
            link.sendall(b"GET /answer/depth HTTP/1.0\r\n" + host + second + b"\r\n")
            assert link.recv(12) == b"HTTP/1.0 403"


def test_words_of_a_section_are_no_markup(monkeypatch):
    bad = dataclasses.replace(SECTIONS[0], words="<script>alert(1)</script>")
    monkeypatch.setattr(_server, "SECTIONS", (bad,))
    _server.page.cache_clear()
    text = _server.page().decode()
    _server.page.cache_clear()
    assert "&lt;script&gt;alert" in text
    assert "<script>alert" not in text


def test_our_own_names_are_answered(ask):
    ours = f"localhost:{ask.port}"
    reply = ask("/answer/depth", host=ours, Origin=f"http://{ours}", Sec_Fetch_Site="same-origin")
    assert reply.status == 200


@pytest.mark.parametrize(
    ("place", "status", "words"),
    [
        ("/answer/depth?depth=99", 400, "depth: received '99', it must be a whole number from 2"),
        ("/answer/depth?a=1&b=2", 400, "'a' is no parameter here"),
        ("/answer/depth?" + "a=1&" * 30, 400, "Max number of fields exceeded"),
        ("/answer/none", 404, "there is nothing at this address"),
        ("/../pyproject.toml", 404, "there is nothing at this address"),
        ("/assets/explore.js", 404, "there is nothing at this address"),
    ],
)
def test_wrong_addresses_are_one_sentence(ask, place, status, words):
    reply = ask(place)
    assert reply.status == status
    assert json.loads(reply.body)["error"].startswith(words)


def test_what_clients_do_is_not_told_on_the_terminal(explorer, ask, capsys, monkeypatch):
    monkeypatch.setattr(_server, "page", lambda: b"x" * 10_000_000)

    def ends_early(request):
        with socket.create_connection(("127.0.0.1", ask.port), timeout=20) as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            link.sendall(request)

    for request in (b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % ask.port, b"GET /"):
        for _ in range(5):
            ends_early(request)
    assert ask("http://[").status == 400
    assert json.loads(ask("http://[").body)["error"] == "this is no address"
    assert ask("/").status == 200
    assert capsys.readouterr().err == ""


def test_many_clients_may_wait_for_a_busy_server():
    waiting = Explorer()  # it listens, and answers nobody yet
    port = int(waiting.address.rstrip("/").rpartition(":")[2])
    links = [socket.create_connection(("127.0.0.1", port), timeout=2) for _ in range(60)]
    with waiting:
        for link in links:
            link.sendall(b"GET /style.css HTTP/1.0\r\nHost: 127.0.0.1:%d\r\n\r\n" % port)
        for link in links:
            assert link.recv(12) == b"HTTP/1.0 200"
            link.close()


def test_a_bug_is_said_and_does_not_end_the_server(ask, monkeypatch):
    def broken(section, query):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(_server, "answered", broken)
    reply = ask("/answer/depth")
    assert reply.status == 500
    assert "ZeroDivisionError('oh')" in json.loads(reply.body)["error"]
    assert ask("/").status == 200
    assert ask("/answer/depth", method="POST").status == 501


def test_only_this_computer_can_reach_it(explorer, ask):
    assert explorer._server.socket.getsockname()[0] == "127.0.0.1"
    with socket.socket() as other, pytest.raises(OSError, match=r"refused|unreachable"):
        other.connect(("127.0.0.2", ask.port))  # another address of this computer


def test_the_end_waits_for_an_answer_under_way(monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def slow(section, query):
        begun.set()
        return {"waited": go_on.wait(10)}

    monkeypatch.setattr(_server, "answered", slow)
    explorer = Explorer()
    with explorer:
        port = explorer._server.server_address[1]
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        link.request("GET", "/answer/depth")
        assert begun.wait(10)
        ended = threading.Thread(target=explorer._server.end)
        ended.start()
        while explorer._server.socket.fileno() != -1:  # it takes no more requests
            time.sleep(0.01)
        ended.join(0.3)
        assert ended.is_alive()
        go_on.set()
        assert link.getresponse().status == 200
        ended.join(10)
        assert not ended.is_alive()
        link.close()
        explorer._server.end = lambda: None
