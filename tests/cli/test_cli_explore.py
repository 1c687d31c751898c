"""`tacit explore`: the address, the browser, the end, and wrong use."""

import socket
import urllib.request

import pytest

from tacit.explore import Explorer
from tacit.explore import _server as server


def test_it_says_its_address_opens_it_and_ends_with_ctrl_c(tacit, monkeypatch):
    opened = []

    def interrupted(self):
        with urllib.request.urlopen(self.address) as page:
            opened.append(page.status)
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(Explorer, "wait", interrupted)
    done = tacit("explore", "--open")
    assert done.returncode == 0, done.stderr
    address, status = opened
    assert status == 200
    assert done.stdout == f"{address}  (Ctrl-C ends it)\n\n"
    assert address.startswith("http://127.0.0.1:")
    with pytest.raises(OSError, match="refused"):  # nobody listens any more
        socket.create_connection(("127.0.0.1", int(address[17:-1])))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "70000"], "--port: received 70000, allowed is 0 (a free one) to 65535"),
        (["--port", "x"], "received 'x', allowed is an integer"),
        (["extra"], "extra"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_2(tacit, options, words):
    done = tacit("explore", *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_in_use_and_a_missing_plotly_are_said(tacit, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = tacit("explore", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "cannot be used (Address already in use), leave it out" in done.stderr
    monkeypatch.setattr(server, "plotly_script", lambda: None)
    done = tacit("explore")
    assert done.returncode == 2
    assert "pip install plotly" in done.stderr
