"""A small client for a Kubernetes-style API, and the process of the manager that serves or uses it."""
import base64
import collections
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import yaml

MERGE = "application/merge-patch+json"


class ApiError(Exception):
    def __init__(self, method, path, status, body):
        super().__init__(f"{method} {path}: {status} {body[:400].decode(errors='replace')}")
        self.status = status


class Kube:
    """Requests as the user of a kubeconfig (client certificate or token). One connection a thread.

    The file is read again whenever the server cannot be reached: an embedded API may come back on another port.
    """

    def __init__(self, kubeconfig):
        self.path, self.local, self.context, self.address, self.headers = kubeconfig, threading.local(), None, None, {}

    def load(self):
        with open(self.path, encoding="utf-8") as file:
            config = yaml.safe_load(file)
        if not isinstance(config, dict) or not config.get("clusters"):
            raise OSError(f"{self.path} is not written yet")
        chosen = next(c["context"] for c in config["contexts"] if c["name"] == config["current-context"])
        cluster = next(c["cluster"] for c in config["clusters"] if c["name"] == chosen["cluster"])
        user = next(u["user"] for u in config["users"] if u["name"] == chosen["user"])
        authority = self.blob(cluster, "certificate-authority")
        self.context = ssl.create_default_context(cadata=authority.decode() if authority else None)
        certificate, key = self.blob(user, "client-certificate"), self.blob(user, "client-key")
        if certificate:
            with tempfile.NamedTemporaryFile() as file:  # the ssl module takes certificates from files only
                file.write(certificate + b"\n" + key)
                file.flush()
                self.context.load_cert_chain(file.name)
        self.headers = {"Authorization": f"Bearer {user['token']}"} if user.get("token") else {}
        self.address = re.sub(r"^https?://", "", cluster["server"]).rstrip("/")
        return self.address

    def blob(self, entry, key):
        if f"{key}-data" in entry:
            return base64.b64decode(entry[f"{key}-data"])
        return (pathlib.Path(self.path).parent / entry[key]).read_bytes() if key in entry else None

    def connect(self, timeout=30):
        address = self.address or self.load()  # another thread may unset it meanwhile
        return http.client.HTTPSConnection(address, context=self.context, timeout=timeout)

    def __call__(self, method, path, body=None, kind="application/json", ok=(200, 201, 202), patience=0):
        """The parsed answer. Tries again for `patience` seconds while the server cannot be reached."""
        end = time.monotonic() + patience
        headers = {"Content-Type": kind, "Accept": "application/json", "User-Agent": "bmo-test"} | self.headers
        while True:
            fresh = getattr(self.local, "connection", None) is None
            try:
                if fresh:
                    self.local.connection = self.connect()
                self.local.connection.request(method, path, json.dumps(body) if body is not None else None, headers | self.headers)
                answer = self.local.connection.getresponse()
                data = answer.read()
                break
            except (OSError, http.client.HTTPException):
                self.local.connection = None
                if fresh and time.monotonic() > end:
                    raise
                if fresh:
                    self.address = None
                    time.sleep(0.2)
        if answer.status not in ok:
            raise ApiError(method, path, answer.status, data)
        return json.loads(data) if data else {}

    def maybe(self, path):
        """The object at `path`; None when there is none."""
        try:
            return self("GET", path, patience=60)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def await_ready(self, manager=None, timeout=90):
        """Wait until the API answers for our kind; the kubeconfig may not exist yet."""
        end, reason = time.monotonic() + timeout, "?"
        while time.monotonic() < end:
            if manager is not None and not manager.alive():
                raise RuntimeError(f"the manager ended with {manager.process.returncode}:\n{manager.tail()}")
            try:
                self("GET", "/apis/metal3.io/v1alpha1/baremetalhosts?limit=1")
                return
            except (OSError, http.client.HTTPException, ApiError) as error:
                reason, self.address = error, None
            time.sleep(0.1)
        raise RuntimeError(f"no API after {timeout} s: {reason}" + (f"\n{manager.tail()}" if manager else ""))


class Trail(threading.Thread):
    """Watches a namespace's hosts and keeps every change of state, operational status and error, by host."""

    def __init__(self, kube, path):
        super().__init__(daemon=True)
        self.kube, self.path, self.began, self.seen, self.over = kube, path, time.monotonic(), {}, False
        self.start()

    def run(self):
        while not self.over:
            try:
                listed = self.kube("GET", self.path, patience=5)
                for host in listed["items"]:
                    self.note(host)
                self.follow(listed["metadata"]["resourceVersion"])
            except (OSError, ValueError, http.client.HTTPException, ApiError):
                time.sleep(0.2)

    def follow(self, version):
        connection = self.kube.connect(timeout=30)
        connection.request("GET", f"{self.path}?watch=true&resourceVersion={version}", headers={"Accept": "application/json"} | self.kube.headers)
        answer = connection.getresponse()
        try:
            while not self.over:
                line = answer.readline()
                if not line:
                    return
                event = json.loads(line)
                if event["type"] in ("ADDED", "MODIFIED"):
                    self.note(event["object"])
                elif event["type"] == "ERROR":
                    return
        except socket.timeout:
            return
        finally:
            connection.close()

    def note(self, host):
        status = host.get("status") or {}
        now = ((status.get("provisioning") or {}).get("state", ""), status.get("operationalStatus", ""), status.get("errorMessage", ""))
        entries = self.seen.setdefault(host["metadata"]["name"], [])
        if not entries or entries[-1][1] != now:
            entries.append((round(time.monotonic() - self.began, 1), now))

    def states(self, name):
        """The states that a host went through, in order, without repetitions."""
        states = [entry[1][0] for entry in self.seen.get(name, [])]
        return [s for i, s in enumerate(states) if i == 0 or states[i - 1] != s]

    def text(self, name):
        return "; ".join(f"{t} s {' '.join(w for w in what if w) or '-'}" for t, what in self.seen.get(name, [])[-12:])


class Manager:
    """The process under test, with its output in a file; started, killed and stopped by its own process id."""

    def __init__(self, command, log):
        self.command, self.log, self.process = command, log, None

    def start(self):
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self, patience=30):
        """SIGTERM; the seconds until it ended, None when it had to be killed."""
        if not self.alive():
            return 0.0
        began = time.monotonic()
        self.process.terminate()
        try:
            self.process.wait(patience)
            return time.monotonic() - began
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def tail(self, lines=25):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-lines:])

    def usage(self):
        """(CPU seconds, resident MiB now, peak MiB) of the process and its children so far."""
        cpu = resident = peak = 0.0
        todo = [self.process.pid]
        while todo:
            root = pathlib.Path(f"/proc/{todo.pop()}")
            try:
                fields = (root / "stat").read_text().rsplit(")", 1)[1].split()
                status = (root / "status").read_text()
                children = [int(c) for task in (root / "task").iterdir() for c in (task / "children").read_text().split()]
            except OSError:  # ended meanwhile
                continue
            cpu += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            for figure in re.findall(r"VmRSS:\s+(\d+)", status):
                resident += int(figure) / 1024
            for figure in re.findall(r"VmHWM:\s+(\d+)", status):
                peak += int(figure) / 1024
            todo += children
        return cpu, resident, peak


class Audit:
    """Requests of the user `manager` in an API server's audit log since the last look, leases left out."""

    def __init__(self, path):
        self.path, self.at = path, os.path.getsize(path)

    def take(self):
        """Counter of `verb resource[/subresource][ status]` since the last call; the status only where it tells of an error."""
        counted = collections.Counter()
        with open(self.path, encoding="utf-8") as log:
            log.seek(self.at)
            for line in iter(log.readline, ""):
                if not line.endswith("\n"):
                    break
                self.at = log.tell()
                event = json.loads(line)
                target = event.get("objectRef") or {}
                if event["user"]["username"] != "manager" or target.get("resource") == "leases":
                    continue
                what = target.get("resource") or event["requestURI"].split("?")[0]
                if target.get("subresource"):
                    what += "/" + target["subresource"]
                status = (event.get("responseStatus") or {}).get("code", 0)
                counted[f"{event['verb']} {what}" + (f" {status}" if status >= 300 else "")] += 1
        return counted

    @staticmethod
    def writes(counted, events=False):
        """How many of them changed something; those that publish events only when asked for."""
        return sum(n for what, n in counted.items() if what.split()[0] in ("create", "update", "patch", "delete", "deletecollection")
                   and (events or not what.split()[1].startswith("events")))


def in_parallel(action, items, workers=8):
    """Run `action` on each item with some threads; the first error is raised at the end."""
    todo, errors, lock = list(items), [], threading.Lock()

    def work():
        while True:
            with lock:
                if not todo:
                    return
                item = todo.pop(0)
            try:
                action(item)
            except Exception as error:  # handed over to the caller below
                errors.append(error)
                return
    threads = [threading.Thread(target=work) for _ in range(min(workers, len(todo)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
