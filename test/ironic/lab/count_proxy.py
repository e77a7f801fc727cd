#!/usr/bin/env python3
"""A proxy between a manager and Ironic that writes one line per request, so that requests can be counted.

    TIME METHOD PATH STATUS MILLISECONDS        (TIME in seconds since 1970, PATH with its query)

usage: count_proxy.py LISTEN_PORT TARGET_PORT FILE
"""
import http.client
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "te", "upgrade"}


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    target, out = None, None

    def log_message(self, *args):
        pass

    def forward(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP}
        began = time.time()
        server = http.client.HTTPConnection("127.0.0.1", self.target, timeout=120)
        try:
            server.request(self.command, self.path, body, headers)
            answer = server.getresponse()
            status, sent, data = answer.status, answer.getheaders(), answer.read()
        except OSError as error:
            status, sent, data = 502, [("Content-Type", "text/plain")], f"Ironic cannot be reached: {error}".encode()
        finally:
            server.close()
        self.out.write(f"{began:.3f} {self.command} {self.path} {status} {(time.time() - began) * 1000:.0f}\n")
        self.send_response_only(status)
        for name, value in sent:
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD" and status != 204:
            self.wfile.write(data)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = forward


if __name__ == "__main__":
    Proxy.target, Proxy.out = int(sys.argv[2]), open(sys.argv[3], "a", buffering=1, encoding="utf-8")
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Proxy).serve_forever()
