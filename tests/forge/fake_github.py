"""A local HTTP server that speaks the few GitHub endpoints a comment needs, and can misbehave."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "ghs_verysecrettoken123"
HEAD = "def456" + "0" * 34


class FakeGitHub:
    """State of the server.

    ``faults`` are answers given before anything else, by (method, path suffix): a tuple
    (status, headers, body), bytes as they are, or "drop" to close the connection, or "lost" to do
    the work and then close the connection without an answer.
    """

    def __init__(self):
        self.comments: list[dict] = []
        self.requests: list[tuple[str, str]] = []
        self.faults: dict[tuple[str, str], deque] = {}
        self.login = "measurer"
        self.is_app = False
        self.barrier: threading.Barrier | None = None
        self.lock = threading.Lock()
        self.next_id = 100
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def handle_any(self):
                length = int(self.headers.get("Content-Length") or 0)
                data = json.loads(self.rfile.read(length) or b"null")
                fake.serve(self, data)

            do_GET = do_POST = do_PATCH = do_DELETE = handle_any  # noqa: N815 - http.server's names

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def fail(self, method, suffix, *answers):
        self.faults.setdefault((method, suffix), deque()).extend(answers)

    def add(self, body, login="measurer", kind="User"):
        with self.lock:
            number = self.next_id
            self.next_id += 1
            made = {
                "id": number,
                "body": body,
                "url": f"{self.url}/repos/o/r/issues/comments/{number}",
                "html_url": f"https://example.test/o/r/pull/7#issuecomment-{number}",
                "user": login and {"login": login, "type": kind, "id": 1, "url": f"{self.url}/u"},
            }
            self.comments.append(made)
        return made

    def bodies(self):
        return [c["body"] for c in self.comments]

    def count(self, method, suffix):
        return sum(m == method and p.endswith(suffix) for m, p in self.requests)

    def serve(self, handler, data):
        parts = urlsplit(handler.path)
        method, path = handler.command, parts.path
        with self.lock:
            self.requests.append((method, path))
            queue = next(
                (
                    q
                    for (m, end), q in self.faults.items()
                    if m == method and path.endswith(end) and q
                ),
                None,
            )
            fault = queue.popleft() if queue else None
        if fault == "drop":
            return self.hang_up(handler)
        if isinstance(fault, tuple):
            return self.answer(handler, *fault)
        status, headers, body = self.route(handler, method, parts, data)
        if fault == "lost":
            return self.hang_up(handler)
        return self.answer(handler, status, headers, body)

    def route(self, handler, method, parts, data):
        path = parts.path
        if handler.headers.get("Authorization") not in (f"token {TOKEN}", f"Bearer {TOKEN}"):
            return 401, {}, {"message": "Bad credentials"}
        if path == "/user":
            if self.is_app:
                return 403, {}, {"message": "Resource not accessible by integration"}
            return 200, {}, {"login": self.login, "type": "User", "url": f"{self.url}/user"}
        if path == "/graphql":
            return 200, {}, {"data": {"viewer": {"login": f"{self.login}[bot]"}}}
        if path == "/repos/o/r/pulls/7":
            issue = f"{self.url}/repos/o/r/issues/7"
            pull = {"url": f"{self.url}{path}", "number": 7, "issue_url": issue}
            return 200, {}, pull | {"head": {"sha": HEAD, "ref": "fix"}}
        if path == "/repos/o/r/issues/7/comments":
            return self.list(parts) if method == "GET" else self.create(data)
        if path.startswith("/repos/o/r/issues/comments/"):
            return self.change(method, int(path.rsplit("/", 1)[1]), data)
        return 404, {}, {"message": "Not Found"}

    def list(self, parts):
        query = {k: int(v[0]) for k, v in parse_qs(parts.query).items() if v[0].isdigit()}
        size, page = query.get("per_page", 30), query.get("page", 1)
        with self.lock:
            found = list(self.comments)
        chunk = found[(page - 1) * size : page * size]
        headers = {}
        if page * size < len(found):
            following = f"{self.url}{parts.path}?per_page={size}&page={page + 1}"
            headers["Link"] = f'<{following}>; rel="next"'
        barrier = self.barrier
        if barrier is not None:  # two runs list before either creates
            with contextlib.suppress(threading.BrokenBarrierError):
                barrier.wait(5)
            self.barrier = None
        return 200, headers, chunk

    def create(self, data):
        kind = "Bot" if self.is_app else "User"
        login = f"{self.login}[bot]" if self.is_app else self.login
        return 201, {}, self.add(data["body"], login, kind)

    def change(self, method, number, data):
        with self.lock:
            found = next((c for c in self.comments if c["id"] == number), None)
            if found is None:
                return 404, {}, {"message": "Not Found"}
            if method == "DELETE":
                self.comments.remove(found)
                return 204, {}, None
            found["body"] = data["body"]
            return 200, {}, dict(found)

    def answer(self, handler, status, headers, body):
        as_it_is = isinstance(body, bytes)
        raw = b"" if body is None else body if as_it_is else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        if body is not None and "Content-Type" not in headers:
            handler.send_header("Content-Type", "application/json; charset=utf-8")
        handler.send_header("Content-Length", str(len(raw)))
        handler.end_headers()
        handler.wfile.write(raw)

    def hang_up(self, handler):
        handler.close_connection = True
        handler.connection.close()
