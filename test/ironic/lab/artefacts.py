#!/usr/bin/env python3
"""The files that the lab's HTTP server serves, and the BMCs' password file.    usage: artefacts.py HTTP_DIR AUTH_FILE

Kernel and ramdisk are noise, since nobody boots them. The disk image is a real qcow2, written here so that no
qemu is needed: one L2 table and one cluster of data, the rest unallocated.
"""
import hashlib
import pathlib
import random
import struct
import sys

import bcrypt

import machines

CLUSTER = 1 << 16
OWN = 1 << 63  # a table entry's "this cluster is referred to once"


def qcow2(virtual_size, data):
    """A qcow2 (version 2) image of `virtual_size` bytes that begins with `data`, at most one cluster of it."""
    refcount_table, refcount_block, l1, l2, first = (n * CLUSTER for n in range(1, 6))
    header = struct.pack(">4sIQIIQIIQQIIQ", b"QFI\xfb", 2, 0, 0, 16, virtual_size, 0, 1, l1, refcount_table, 1, 0, 0)
    clusters = [header, struct.pack(">Q", refcount_block), struct.pack(">6H", *[1] * 6),
                struct.pack(">Q", l2 | OWN), struct.pack(">Q", first | OWN), data]
    return b"".join(c.ljust(CLUSTER, b"\0") for c in clusters)


def main():
    http, auth = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    noise = random.Random(0)
    boot_sector = b"image of the BMO lab".ljust(510, b"\0") + b"\x55\xaa"
    files = {"image.qcow2": qcow2(10 << 20, boot_sector + noise.randbytes(32768)),
             "other.qcow2": qcow2(10 << 20, boot_sector + noise.randbytes(32768)),
             "live.iso": (b"\0" * 32768 + b"\1CD001\1").ljust(65536, b"\0"),
             "ipa.kernel": noise.randbytes(65536), "ipa.initramfs": noise.randbytes(65536)}
    for name, content in files.items():
        (http / name).write_bytes(content)
        (http / f"{name}.sha256").write_text(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
    hashed = bcrypt.hashpw(machines.PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    auth.touch(mode=0o600)
    auth.write_text(f"{machines.USERNAME}:{hashed}\n")


if __name__ == "__main__":
    main()
