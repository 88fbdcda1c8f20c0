"""Every way out of the page that sketches, tried from where rows are read: none gets out."""

import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.e2e.browser.conftest import OPTIONS, chromium
from tests.e2e.browser.silo_pages import opened_page, write_table

pytestmark = pytest.mark.browser

WAIT = 1000
"""Milliseconds for a packet on the way to 127.0.0.1, also on a machine that has much to do."""

WORKER = {
    "fetch": "fetch(URL_).catch(() => 0)",
    "fetch without answer": "fetch(URL_, { mode: 'no-cors', keepalive: true }).catch(() => 0)",
    "WebAssembly": "WebAssembly.compileStreaming(fetch(URL_)).catch(() => 0)",
    "XMLHttpRequest": "{ const x = new XMLHttpRequest(); x.open('GET', URL_); x.send(); }",
    "XMLHttpRequest that waits": "{ const x = new XMLHttpRequest(); x.open('GET', URL_, false); x.send(); }",
    "WebSocket": "new WebSocket(WS_)",
    "WebSocketStream": "new WebSocketStream(WS_).opened.catch(() => 0)",
    "EventSource": "new EventSource(URL_)",
    "WebTransport": "new WebTransport(URL_)",
    "beacon": "navigator.sendBeacon(URL_, 'x')",
    "importScripts": "importScripts(POLICY_.createScriptURL(URL_))",
    "import": "import(URL_).catch(() => 0)",
    "a script by text": "setTimeout(`fetch('${URL_}')`)",
    "worker": "new Worker(POLICY_.createScriptURL(URL_))",
    "sub-worker": (
        "new Worker(POLICY_.createScriptURL(URL.createObjectURL(new Blob(["
        "`fetch('${URL_}').catch(() => 0); new WebSocket('${WS_}'); importScripts('${URL_}')`]))))"
    ),
    "font": "{ const f = new FontFace('x', `url(${URL_})`); self.fonts.add(f); f.load().catch(() => 0); }",
    "notification": "new Notification('x', { icon: URL_ })",
    "navigation": "self.location = URL_",
    "navigation by href": "self.location.href = URL_",
    "window.open": "self.open(URL_)",
    "service worker": "navigator.serviceWorker.register(URL_)",
    "WebRTC": (
        "{ const p = new RTCPeerConnection({ iceServers: [{ urls: STUN_ }] }); p.createDataChannel('x');"
        " p.setLocalDescription(); }"
    ),
}
"""Tried in the worker, which reads rows."""

FRAME = {
    "fetch": "fetch(URL_).catch(() => 0)",
    "XMLHttpRequest": WORKER["XMLHttpRequest"],
    "fetch without answer": WORKER["fetch without answer"],
    "fetch later": "fetchLater(URL_, { activateAfter: 0 })",
    "WebSocket": "new WebSocket(WS_)",
    "WebSocketStream": WORKER["WebSocketStream"],
    "EventSource": "new EventSource(URL_)",
    "WebTransport": "new WebTransport(URL_.replace('http:', 'https:'))",
    "beacon": "navigator.sendBeacon(URL_, 'x')",
    "image": "new Image().src = URL_",
    "picture": "ADDED_('img', { srcset: `${URL_} 2x`, sizes: '1px' })",
    "image of a drawing": "{ const s = document.createElementNS(SVG_, 'svg'), i = document.createElementNS(SVG_, 'image'); i.setAttribute('href', URL_); s.append(i); document.body.append(s); }",
    "image of a field": "ADDED_('input', { type: 'image', src: URL_ })",
    "image of the player": "navigator.mediaSession.metadata = new MediaMetadata({ artwork: [{ src: URL_ }] })",
    "source of an advertisement": "{ const i = document.createElement('img'); i.setAttribute('attributionsrc', URL_); document.body.append(i); }",
    "style sheet": "RELATED_('stylesheet')",
    "adopted style sheet": "{ SHOWN_('adopted'); const s = new CSSStyleSheet(); s.replaceSync(`#adopted { background: url(${URL_}); cursor: url(${URL_}), auto; filter: url(${URL_}#x) }`); document.adoptedStyleSheets = [s]; }",
    "imported style sheet": "{ const s = document.createElement('style'); s.textContent = `@import url(${URL_})`; document.head.append(s); }",
    "CSS": "{ SHOWN_('styled'); const s = document.createElement('style'); s.textContent = `#styled { background: url(${URL_}) }`; document.head.append(s); }",
    "CSS of an element": "SHOWN_('itself').style.backgroundImage = `url(${URL_})`",
    "font": "{ const f = new FontFace('x', `url(${URL_})`); document.fonts.add(f); f.load().catch(() => 0); }",
    "script": "document.head.append(Object.assign(document.createElement('script'), { src: URL_ }))",
    "import": "import(URL_).catch(() => 0)",
    "prefetch": "RELATED_('prefetch')",
    "preload": "RELATED_('preload', { as: 'image' })",
    "module preload": "RELATED_('modulepreload')",
    "icon": "RELATED_('icon')",
    "manifest": "RELATED_('manifest')",
    "name prefetch": "RELATED_('dns-prefetch')",
    "preconnect": "RELATED_('preconnect')",
    "speculation rules": "ADDED_('script', { type: 'speculationrules', textContent: JSON.stringify({ prefetch: [{ urls: [URL_] }], prerender: [{ urls: [URL_] }] }) })",
    "report of a policy": "{ ADDED_('meta', { httpEquiv: 'Content-Security-Policy', content: `img-src 'none'; report-uri ${URL_}` }); new Image().src = 'data:,x'; }",
    "base": "{ ADDED_('base', { href: `${URL_}/` }); new Image().src = 'x'; }",
    "blank frame": "ADDED_('iframe').contentWindow.fetch(URL_)",
    "frame by text": "ADDED_('iframe', { srcdoc: `<img src='${URL_}'>` })",
    "embed": "ADDED_('embed', { src: URL_ })",
    "iframe": "document.body.append(Object.assign(document.createElement('iframe'), { src: URL_ }))",
    "object": "document.body.append(Object.assign(document.createElement('object'), { data: URL_ }))",
    "video": "document.body.append(Object.assign(document.createElement('video'), { src: URL_ }))",
    "track": "{ const v = ADDED_('video'), t = Object.assign(document.createElement('track'), { src: URL_, default: true }); v.append(t); }",
    "form to a new window": "{ const f = ADDED_('form', { action: URL_, target: '_blank' }); f.submit(); }",
    "form": "{ const f = Object.assign(document.createElement('form'), { action: URL_ }); document.body.append(f); f.submit(); }",
    "link": "LINK_({ href: URL_ })",
    "link to the page around": "LINK_({ href: URL_, target: '_top' })",
    "link to a new window": "LINK_({ href: URL_, target: '_blank' })",
    "ping of a link": "LINK_({ href: '#x', ping: URL_ })",
    "download": "LINK_({ href: URL_, download: 'x' })",
    "window.open": "window.open(URL_)",
    "refresh": "document.head.append(Object.assign(document.createElement('meta'), { httpEquiv: 'refresh', content: `0;url=${URL_}` }))",
    "navigation": "location = URL_",
    "navigation of the page around": "top.location = URL_",
    "fragment of the page around": "top.location.hash = 'x'",
    "history": "history.pushState(0, '', URL_)",
    "worker": "new Worker(URL_)",
    "shared worker": "new SharedWorker(POLICY_.createScriptURL(URL_))",
    "worklet for paint": "CSS.paintWorklet.addModule(URL_).catch(() => 0)",
    "worklet for sound": "new AudioContext().audioWorklet.addModule(URL_).catch(() => 0)",
    "service worker": WORKER["service worker"],
    "payment": "new PaymentRequest([{ supportedMethods: URL_.replace('http:', 'https:') }], { total: { label: 'x', amount: { currency: 'EUR', value: '1' } } }).canMakePayment().catch(() => 0)",
    "credentials": "navigator.credentials.get({ identity: { providers: [{ configURL: URL_, clientId: 'x' }] } }).catch(() => 0)",
    "presentation": "new PresentationRequest([URL_]).start().catch(() => 0)",
    "WebRTC": WORKER["WebRTC"],
    "WebRTC of a blank frame": WORKER["WebRTC"].replace(
        "new RTC", "new (ADDED_('iframe').contentWindow).RTC"
    ),
}
"""Tried in the frame, which hands the file to the worker and sees the message."""
LEAVING = "form", "link", "link to the page around", "download", "refresh", "navigation"
CONNECTING = "link", "download", "refresh", "navigation", "iframe"
"""Refused in the frame after Chromium connected to the computer that is named, without a request."""
STAYING = sorted(FRAME.keys() - {*LEAVING, *CONNECTING})
UNHEARD = {
    *(
        "image of the player",
        "source of an advertisement",
        "manifest",
        "name prefetch",
        "preconnect",
    ),
    *(
        "speculation rules",
        "report of a policy",
        "track",
        "presentation",
        "payment",
        "WebTransport",
    ),
    *("worker", "shared worker", "service worker", "history", "fragment of the page around"),
}
"""What this Chromium does not even send from a file without a policy, so that nothing follows for it."""

LOCAL = {
    "a database": "new Promise((y, n) => { const q = indexedDB.open('x'); q.onsuccess = y; q.onerror = () => n(q.error); })",
    "a cache": "caches.open('x')",
    "a file of the browser": "navigator.storage.getDirectory()",
    "an old file system": "new Promise((y, n) => webkitRequestFileSystem(0, 1, y, n))",
    "storage": "localStorage.setItem('x', 'x')",
    "storage of the session": "sessionStorage.setItem('x', 'x')",
    "a cookie": "document.cookie = 'x=x'",
    "the store of cookies": "cookieStore.set('x', 'x')",
    "a bucket": "navigator.storageBuckets.open('x')",
    "a lock that others see": "navigator.locks.request('x', () => 0)",
    "a service worker": "navigator.serviceWorker.register('x')",
    "the clipboard": "navigator.clipboard.writeText('x')",
    "a notification": "Notification.requestPermission().then((given) => { if (given !== 'granted') throw given; })",
    "a file to write": "showSaveFilePicker()",
    "a file to read": "showOpenFilePicker()",
    "sharing": "navigator.share({ text: 'x' })",
    "USB": "navigator.usb.getDevices()",
    "a serial port": "navigator.serial.getPorts()",
    "an input device": "navigator.hid.getDevices()",
    "Bluetooth": "navigator.bluetooth.requestDevice({ acceptAllDevices: true })",
    "MIDI": "navigator.requestMIDIAccess()",
    "a microphone": "navigator.mediaDevices.getUserMedia({ audio: true })",
    "the screen": "navigator.mediaDevices.getDisplayMedia()",
    "a password": "navigator.credentials.store(new PasswordCredential({ id: 'x', password: 'x' }))",
    "a voice, which may be a service": "speechSynthesis.speak(new SpeechSynthesisUtterance('x'))",
    "hearing, which may be a service": "new webkitSpeechRecognition().start()",
    "the document around": "parent.document.title",
    "the name of the page around": "parent.name = 'x'",
    "a protocol": "navigator.registerProtocolHandler('web+x', 'https://x.test/%s')",
}
"""What could keep or pass on something on this computer; each must fail, in the worker and in the frame."""

PRELUDE = """
const POLICY_ = { createScriptURL: (url) => url };
try { Object.assign(POLICY_, { createScriptURL: (p => url => p.createScriptURL(url))(trustedTypes.createPolicy(
  "fedparity-worker", { createScriptURL: (url) => url })) }); } catch (e) {}
const SVG_ = "http://www.w3.org/2000/svg";
const ADDED_ = (tag, set = {}) => { const e = Object.assign(document.createElement(tag), set); document.body.append(e); return e; };
const SHOWN_ = (id) => ADDED_("p", { id, textContent: "x" }); // its own element: one background hides another of the same
const RELATED_ = (rel, set = {}) => document.head.append(Object.assign(document.createElement("link"), { rel, ...set, href: URL_ }));
const LINK_ = (set) => { const a = Object.assign(document.createElement("a"), set); document.body.append(a); a.click(); };
"""


class Listening:
    """A server on 127.0.0.1 that remembers every connection and request, and a socket for packets."""

    def __enter__(self):
        hits, connections = self.hits, self.connections = [], []

        class Server(ThreadingHTTPServer):
            def process_request(self, request, address):
                connections.append(address)
                super().process_request(request, address)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                hits.append(self.path)
                self.send_response(204)
                self.end_headers()

            do_POST = do_OPTIONS = do_HEAD = do_GET  # noqa: N815 -- as http.server names them

            def log_message(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.packets.bind(self.server.server_address)
        self.packets.setblocking(False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.packets.close()

    def names(self, name):
        """What stands for addresses in the scripts; each says which channel it belongs to."""
        port = self.server.server_port
        path = name.replace(" ", "-")
        return (
            f"const URL_ = 'http://127.0.0.1:{port}/{path}', WS_ = 'ws://127.0.0.1:{port}/{path}',"
            f" STUN_ = 'stun:127.0.0.1:{port}';"
        )

    def heard(self):
        """Return the channels of which a request came."""
        return {re.split("[/?]", path)[1].replace("-", " ") for path in self.hits}

    def packet(self):
        """Return a packet that came, or None."""
        try:
            return self.packets.recv(2000)
        except BlockingIOError:
            return None


def tried(where, listening, channels):
    """Try every channel, whatever it says."""
    for name, script in channels.items():
        code = f"{{ {PRELUDE} {listening.names(name)} try {{ {script}; }} catch (e) {{}} }}"
        where.evaluate(f"() => {{ {code} }}")


def test_nothing_gets_out_of_the_worker(browser, tmp_path):
    with Listening() as listening, opened_page(browser, tmp_path, offline=False) as page:
        page.choose(write_table(tmp_path / "table.csv", rows=50))
        [worker] = page.page.workers
        tried(worker, listening, WORKER)
        page.page.wait_for_timeout(WAIT)

        assert worker.evaluate("typeof RTCPeerConnection") == "undefined"
        assert listening.connections == []
        assert listening.packet() is None
        assert len(page.page.context.pages) == 1
        page.compute()


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [*([name] for name in LEAVING), ["iframe"], STAYING],
    ids=[*LEAVING, "iframe", "those that stay"],
)
def test_nothing_gets_out_of_the_frame(browser, tmp_path, names):
    """One page for each that would leave it: a refused one breaks the frame."""
    with Listening() as listening, opened_page(browser, tmp_path, offline=False) as page:
        tried(page.frame, listening, {name: FRAME[name] for name in sorted(names)})
        page.page.wait_for_timeout(WAIT)

        assert listening.hits == []
        assert not listening.connections or set(names) <= set(CONNECTING)
        assert listening.packet() is None
        assert len(page.page.context.pages) == 1
        assert page.page.url.startswith("file:")
        assert page.page.evaluate("location.hash") == ""


@pytest.mark.slow
def test_the_listeners_hear_a_page_without_a_policy(browser, tmp_path):
    """What the other tests do not hear, these listeners would; but for what they cannot."""
    (tmp_path / "open.html").write_text("<!doctype html><title>open</title><p>x", "utf-8")
    page = browser.new_page()
    with Listening() as listening:
        packet = None
        for names in (STAYING, ["navigation"]):
            page.goto((tmp_path / "open.html").as_uri())
            tried(page, listening, {name: FRAME[name] for name in names})
            expected = {name for name in names if "WebRTC" not in name} - UNHEARD
            for _ in range(240):  # some requests are made only when the browser is idle
                page.wait_for_timeout(WAIT / 4)
                packet = packet or listening.packet()
                if expected <= listening.heard() and packet:
                    break
        heard = listening.heard()
    for each in page.context.pages:
        each.close()

    assert packet
    assert "navigation" in heard
    assert {name for name in STAYING if "WebRTC" not in name} - heard == UNHEARD


@pytest.mark.slow
def test_nothing_is_kept_or_passed_on_within_the_computer(browser, tmp_path):
    """What is not there fails as well; a channel between pages reaches no other page of the same file."""
    fails = "async () => {{ try {{ await Promise.race([(async () => {{ await ({}) }})(), LATE_]); return false }} catch {{ return true }} }}"
    late = "new Promise((resolve) => setTimeout(resolve, 20000))"  # one that takes long to fail
    listens = "() => { self.heard = []; new BroadcastChannel('x').onmessage = (event) => heard.push(event.data); }"
    with (
        opened_page(browser, tmp_path, offline=False) as page,
        opened_page(browser, tmp_path, offline=False) as other,
    ):
        page.choose(write_table(tmp_path / "table.csv", rows=50))
        [worker] = page.page.workers
        second = page.page.context.new_page()
        second.goto(page.page.url)
        for where in (second.frames[-1], second, other.frame):
            where.evaluate(listens)
        for where in (worker, page.frame):
            where.evaluate("() => new BroadcastChannel('x').postMessage('x')")
            allowed = [
                name
                for name, script in LOCAL.items()
                if not where.evaluate(fails.format(script).replace("LATE_", late))
            ]

            assert allowed == []
        assert [each.evaluate("heard") for each in (second.frames[-1], second, other.frame)] == [
            [],
            [],
            [],
        ]


@pytest.mark.slow
def test_no_name_of_a_computer_is_looked_up_for_the_worker(browser, tmp_path):
    """The browser's own log of its network holds the frame's refused navigation, and nothing of the worker."""
    log = tmp_path / "network.json"
    options = [*OPTIONS, f"--log-net-log={log}", "--net-log-capture-mode=Everything"]
    logging = browser.browser_type.launch(executable_path=chromium(), args=options)
    with opened_page(logging, tmp_path, offline=False) as page:
        page.choose(write_table(tmp_path / "table.csv", rows=50))
        [worker] = page.page.workers
        tried(worker, Named(), WORKER)
        page.page.wait_for_timeout(WAIT)
        tried(page.frame, Named(), {"navigation of the frame": FRAME["navigation"]})
        page.page.wait_for_timeout(5 * WAIT)
    logging.close()

    assert set(re.findall(r"([\w-]+)\.channel\.test", log.read_text("utf-8"))) == {
        "navigation-of-the-frame"
    }


class Named:
    """Addresses whose host is the name of the channel."""

    @staticmethod
    def names(name):
        """What stands for addresses in the scripts."""
        host = f"{name.replace(' ', '-').replace('.', '-').lower()}.channel.test"
        return f"const URL_ = 'http://{host}/', WS_ = 'ws://{host}/', STUN_ = 'stun:{host}:3478';"


def test_rows_are_seen_by_the_worker_alone(browser, tmp_path):
    """The page around has no script; the frame never reads the file, and is told no row."""
    table = write_table(tmp_path / "table.csv")
    scores = [line.split(",")[2] for line in table.read_text("utf-8").split("\n")[1:-1]]
    watch = """() => {
      self.readFiles = []; self.heard = [];
      for (const name of ["arrayBuffer", "text", "stream", "slice", "bytes"]) {
        const own = Blob.prototype[name];
        if (own) Blob.prototype[name] = function (...given) {
          if (this instanceof File) self.readFiles.push(name);
          return own.apply(this, given);
        };
      }
      for (const name of ["readAsText", "readAsArrayBuffer", "readAsDataURL"]) {
        const own = FileReader.prototype[name];
        FileReader.prototype[name] = function (...given) { self.readFiles.push(name); return own.apply(this, given); };
      }
      const set = Object.getOwnPropertyDescriptor(Worker.prototype, "onmessage");
      Object.defineProperty(Worker.prototype, "onmessage", { ...set, set(heard) {
        set.set.call(this, (event) => {
          self.heard.push(JSON.stringify(event.data));
          heard(event);
        });
      } });
    }"""
    with opened_page(browser, tmp_path) as page:
        page.frame.evaluate(watch)
        page.choose(table)
        page.frame.locator("#read-labels").click()
        page.frame.locator("#labels table").wait_for()
        page.compute()
        heard = "\n".join(page.frame.evaluate("self.heard"))

        assert page.frame.evaluate("self.readFiles") == []
        assert page.page.evaluate("document.scripts.length") == 0
        assert "P00001" not in heard
        assert [score for score in scores if score in heard] == []
        assert '"records":900' in heard
