"""What a silo's programs make of an address, a token, and of whatever answers there."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fedparity.errors import (
    CollectorUnreachableError,
    MessageError,
    NotAllowedError,
    OptionError,
)
from fedparity.service.sender import Door

TOKEN = "t" * 43


class Server:
    """Something that answers every request in the same way, and remembers what it was asked."""

    def __init__(self, status=200, body=b"{}", **headers):
        self.asked = asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self):
                asked.append((self.path, dict(self.headers)))
                self.rfile.read(int(self.headers.get("content-length", "0")))
                self.send_response(status)
                for name, value in ({"content_length": str(len(body))} | headers).items():
                    if value is not None:
                        self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_PUT  # noqa: N815

            def log_message(self, *_):
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()

    def close(self):
        """End it."""
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def answering():
    made = []

    def start(*words, **options):
        made.append(Server(*words, **options))
        return made[-1]

    yield start
    for each in made:
        each.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://audit.example.org",
        "ftp://127.0.0.1",
        "audit.example.org",
        "",
        "https://",
        "https://[::1",
        "https://audit.example.org:port",
        "https://audit.example.org:99999",
        "https://audit.example.org/enter/secret",
        "https://audit.example.org?x=1",
        "https://user:word@audit.example.org",
        "https://127.0.0.1@evil.example",
        "http://localhost.evil.example",
    ],
)
def test_an_address_that_is_no_collectors_is_refused_before_anything_is_sent(url):
    with pytest.raises(OptionError) as caught:
        Door(url, TOKEN)

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("token", ["a b", "a\r\nx: y", "ü", "\ufffd", "", "t" * 101, "<token>"])
def test_a_token_that_cannot_be_one_is_refused_and_not_shown(token):
    with pytest.raises(OptionError, match="does not hold a token") as caught:
        Door("https://audit.example.org", token)

    assert not token or token not in str(caught.value).replace("token", "")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_token_follows_no_redirection(answering, status):
    other = answering()
    door = Door(answering(status, location=f"{other.url}/x").url, TOKEN)
    for method, data in (("GET", None), ("PUT", b"{}")):
        with pytest.raises(CollectorUnreachableError):
            door.call(method, "/api/round", data)

    assert other.asked == []


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, NotAllowedError),
        (403, NotAllowedError),
        (404, CollectorUnreachableError),
        (409, MessageError),
        (413, MessageError),
        (422, MessageError),
        (429, CollectorUnreachableError),
        (500, CollectorUnreachableError),
        (503, CollectorUnreachableError),
    ],
)
def test_each_refusal_has_its_kind_and_a_fix(answering, status, kind):
    said = json.dumps({"error": "no", "fix": "do"}).encode()
    for body, words in ((said, "no"), (b"<html>", str(status)), (b"", str(status))):
        with pytest.raises(kind) as caught:
            Door(answering(status, body).url, TOKEN).send(b"{}")
        assert words in caught.value.message
        assert caught.value.fix


def test_the_words_of_a_collector_do_nothing_to_a_terminal(answering):
    said = json.dumps({"error": "\x1b[2Jpaid\nfix: pay", "fix": "x\x07"}).encode()
    with pytest.raises(MessageError) as caught:
        Door(answering(422, said).url, TOKEN).send(b"{}")

    assert "\x1b" not in str(caught.value)
    assert "\x07" not in str(caught.value)
    assert str(caught.value).count("fix: ") == 2
    assert "\nfix: pay" not in str(caught.value)


@pytest.mark.parametrize("length", ["100", "x"])
@pytest.mark.parametrize("status", [200, 422])
def test_a_reply_that_breaks_off_is_no_acknowledgement(answering, status, length):
    server = answering(status, b'{"digest": "x"}', content_length=length, connection="close")
    with pytest.raises((CollectorUnreachableError, MessageError)):
        Door(server.url, TOKEN).send(b"{}")


def test_a_reply_without_a_length_is_read_to_its_end(answering):
    """A proxy may pass it on in chunks, or until the end of the connection."""
    server = answering(201, b'{"digest": "x"}', content_length=None, connection="close")

    assert Door(server.url, TOKEN).send(b"{}") == ("x", True)


def test_a_reply_that_is_too_long_is_not_read(answering):
    server = answering(200, b"x" * 70_000)
    with pytest.raises(CollectorUnreachableError):
        Door(server.url, TOKEN).send(b"{}")


def test_certificates_that_cannot_be_read_are_said(tmp_path):
    (tmp_path / "none.pem").write_text("no certificate")
    for name in ("none.pem", "missing.pem"):
        with pytest.raises(OptionError, match="cannot be read"):
            Door("https://audit.example.org", TOKEN, ca_file=str(tmp_path / name))
