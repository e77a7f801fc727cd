#!/usr/bin/env python3
"""The files inside a config drive, which is an ISO image with the label config-2.

As a program: configdrive.py ISO_FILE [PATH]      lists the files, or writes the one at PATH, byte for byte
"""
import io
import sys

import pycdlib

LATEST = "openstack/latest/"


def read(iso):
    """{path: bytes} of all files of an ISO image, with the names of its Joliet tree (`openstack/latest/user_data`)."""
    image = pycdlib.PyCdlib()
    image.open_fp(io.BytesIO(iso))
    try:
        files = {}
        for folder, _, names in image.walk(joliet_path="/"):
            for name in names:
                path, content = f"{folder.rstrip('/')}/{name}", io.BytesIO()
                image.get_file_from_iso_fp(content, joliet_path=path)
                files[path.lstrip("/")] = content.getvalue()
        return files
    finally:
        image.close()


def label(iso):
    """The volume's label, by which cloud-init finds a config drive."""
    image = pycdlib.PyCdlib()
    image.open_fp(io.BytesIO(iso))
    try:
        return image.pvd.volume_identifier.decode().strip()
    finally:
        image.close()


def main():
    with open(sys.argv[1], "rb") as file:
        files = read(file.read())
    if len(sys.argv) > 2:
        sys.stdout.buffer.write(files[sys.argv[2]])
    else:
        for path, content in sorted(files.items()):
            print(f"{len(content):8} {path}")


if __name__ == "__main__":
    main()
