"""What the fake agent keeps of each machine, by MAC address: counters, and every image it was told to write.

A deploy record has `image_url`, `disk_format`, `algorithm` and `expected` (what Ironic asked for), `sha256` and `bytes`
(what the image server really sent), `configdrive` (the ISO image, gzipped, in base64, as Ironic sends it), and
`state`: writing, written, or failed.
"""
import base64
import copy
import gzip
import hashlib
import threading
import time
import urllib.request


class ImageError(Exception):
    """The image cannot be written: not to be had, or not the one that was asked for."""


class Records:
    """Safe for use from all the agents' threads."""

    def __init__(self):
        self.lock, self.machines = threading.Lock(), {}

    def _of(self, mac):
        return self.machines.setdefault(mac.lower(), {"mac": mac.lower(), "boots": 0, "inspections": 0, "cleanings": 0, "deploys": [], "steps": []})

    def count(self, mac, what):
        with self.lock:
            self._of(mac)[what] += 1

    def begin_deploy(self, mac, step):
        """Note that an image is being written, before the first byte: a second write must show even when it fails."""
        args = step.get("args") or {}
        image = args.get("image_info") or {}
        record = {"began": time.time(), "state": "writing", "image_url": (image.get("urls") or [None])[0], "disk_format": image.get("disk_format"),
                  "algorithm": image.get("os_hash_algo") or ("md5" if image.get("checksum") else None),
                  "expected": image.get("os_hash_value") or image.get("checksum"), "sha256": None, "bytes": None,
                  "configdrive": args.get("configdrive") or image.get("configdrive")}
        with self.lock:
            self._of(mac)["deploys"].append(record)
        return record

    def end_step(self, mac, kind, step, deploy, problem):
        with self.lock:
            machine = self._of(mac)
            machine["steps"].append({"kind": kind, "step": f"{step.get('interface')}.{step.get('step')}", "failed": problem})
            if kind == "clean":
                machine["cleanings"] += 1
            if deploy is not None:
                deploy["state"], deploy["ended"] = ("failed" if problem else "written"), time.time()

    def forget(self):
        with self.lock:
            self.machines.clear()

    def of(self, mac):
        with self.lock:
            return copy.deepcopy(self._of(mac))

    def all(self):
        with self.lock:
            return copy.deepcopy(self.machines)

    def configdrive(self, mac):
        """The last config drive as ISO bytes; None when there was none."""
        deploys = self.of(mac)["deploys"]
        return unpack(deploys[-1]["configdrive"]) if deploys and deploys[-1]["configdrive"] else None


def unpack(configdrive):
    """ISO bytes of a config drive in Ironic's form: gzipped base64, or the address of such a text."""
    if configdrive.startswith(("http://", "https://")):
        configdrive = fetch(configdrive).decode()
    return gzip.decompress(base64.b64decode(configdrive))


def fetch(url):
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.read()
    except OSError as error:
        raise ImageError(f"{url} cannot be downloaded: {error}") from error


def write_image(record):
    """Download and verify as a real agent would before it writes; fills in what was got."""
    data = fetch(record["image_url"])
    record["bytes"], record["sha256"] = len(data), hashlib.sha256(data).hexdigest()
    expected = record["expected"]
    if not expected:
        raise ImageError("Ironic gave no checksum")
    if expected.startswith(("http://", "https://")):
        expected = checksum_from_list(fetch(expected).decode(), record["image_url"].rsplit("/", 1)[-1])
    found = hashlib.new(record["algorithm"], data).hexdigest()
    if found != expected.lower():
        raise ImageError(f"{record['algorithm']} of {record['image_url']} is {found}, not {expected}")


def checksum_from_list(text, name):
    """The checksum of file `name` in a list as sha256sum writes it, or the only word of the text."""
    words = text.split()
    if len(words) == 1:
        return words[0]
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 2 and fields[1].lstrip("*") == name:
            return fields[0]
    raise ImageError(f"the checksum list has no line for {name}")
