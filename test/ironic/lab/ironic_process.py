#!/usr/bin/env python3
"""Ironic, with one thing remembered: arguments are those of the `ironic` command.

Ironic derives the key of its BMC session cache with 600,000 rounds of PBKDF2 at every single BMC access, 0.6 s of CPU
each and some thirty of them in a host's life. The same input gives the same key, so the results are kept here, and ten
hosts at once take minutes less. Nothing else of Ironic is changed.
"""
import functools
import hashlib
import sys

hashlib.pbkdf2_hmac = functools.lru_cache(maxsize=1000)(hashlib.pbkdf2_hmac)

from ironic.command.singleprocess import main  # noqa: E402  (after the line above, which it must see)

if __name__ == "__main__":
    sys.exit(main())
