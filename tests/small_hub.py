"""A local hub that serves one dataset to the Hugging Face file system as the real hub does."""

import hashlib
import json
import os
import re
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from unittest.mock import patch
from urllib.parse import unquote, urlsplit

import fsspec
from huggingface_hub import constants
from huggingface_hub.utils import close_session
from object_store import LOOPBACK

REPOSITORY = "owner/news"
_API, _FILES = f"/api/datasets/{REPOSITORY}", f"/datasets/{REPOSITORY}/resolve/main/"


@contextmanager
def small_hub(files, ranges=None):
    """Serve files, bytes by name, as `hf://datasets/owner/news/NAME` while the block runs.

    Each request for a file adds a pair to `ranges`: the name, and the header with the requested range.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, files, [] if ranges is None else ranges))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings = {"hf": {"endpoint": f"http://127.0.0.1:{server.server_port}", "token": False}}
    # A session reads the proxies when it begins, so the next one must begin with these settings.
    close_session()
    try:
        with (
            patch.dict(fsspec.config.conf, settings),
            patch.dict(os.environ, LOOPBACK),
            patch.object(constants, "HF_HUB_OFFLINE", False),
        ):
            yield f"hf://datasets/{REPOSITORY}"
    finally:
        close_session()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, files, ranges, *args):
        self.files, self.ranges = files, ranges
        super().__init__(*args)

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        if path.startswith(f"{_API}/tree/main"):
            self._list(path.removeprefix(f"{_API}/tree/main").strip("/"))
        elif path in (_API, f"{_API}/revision/main"):
            self._answer({"id": REPOSITORY, "sha": "0" * 40, "private": False, "tags": [], "downloads": 0, "likes": 0})
        elif path.startswith(_FILES):
            self._send(path.removeprefix(_FILES))
        else:
            self._missing("RepoNotFound")

    def do_HEAD(self):
        self.do_GET()

    def _list(self, folder):
        start = f"{folder}/" if folder else ""
        names = {name.removeprefix(start).partition("/")[0] for name in self.files if name.startswith(start)}
        entries = [self._entry(start + name) for name in sorted(names)]
        self._answer(entries) if entries else self._missing("EntryNotFound")

    def _entry(self, name):
        content = self.files.get(name)
        if content is None:
            return {"type": "directory", "oid": "0" * 40, "size": 0, "path": name}
        return {"type": "file", "oid": hashlib.sha1(content).hexdigest(), "size": len(content), "path": name}

    def _send(self, name):
        content = self.files.get(name)
        if content is None:
            self._missing("EntryNotFound")
            return
        self.ranges.append((name, self.headers.get("Range")))
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "bytes=0-"))
        first, last = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
        range_of = {"Content-Range": f"bytes {first}-{last}/{len(content)}"} if "Range" in self.headers else {}
        etag = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"'}
        self._answer(content[first : last + 1], 206 if range_of else 200, range_of | etag)

    def _missing(self, code):
        self._answer({"error": code}, 404, {"X-Error-Code": code})

    def _answer(self, value, status=200, headers=()):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, content in {**dict(headers), "X-Repo-Commit": "0" * 40, "Content-Length": len(body)}.items():
            self.send_header(name, str(content))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
