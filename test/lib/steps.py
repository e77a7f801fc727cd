"""Named steps of a test, one line each with its seconds, and the closing line that test runners read."""
import sys
import time


class Failed(Exception):
    """A check of a step does not hold."""


class Steps:
    """Runs named steps, prints one line each with its seconds, and the closing line that test runners read."""

    def __init__(self):
        self.passed, self.failed = 0, 0

    def run(self, name, action, *args):
        """True when `action` ended without an error. It may return a text, which is printed behind the name."""
        began = time.monotonic()
        try:
            note = action(*args)
        except Exception as error:  # whatever it was, the next step and the closing line must come
            self.failed += 1
            print(f"FAILED {name} ({time.monotonic() - began:.1f} s): {error if isinstance(error, Failed) else repr(error)}", flush=True)
            return False
        self.passed += 1
        print(f"ok     {name} ({time.monotonic() - began:.1f} s){f': {note}' if isinstance(note, str) else ''}", flush=True)
        return True

    def close(self):
        """Print the closing line and end the process: 0 when nothing failed."""
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        sys.exit(1 if self.failed else 0)


def expect(found, wanted, what):
    if found != wanted:
        raise Failed(f"{what}: found {found!r}, wanted {wanted!r}")


def until(what, condition, timeout, pause=0.3, describe=lambda: ""):
    """The first true value of `condition()`, asked every `pause` seconds; Failed after `timeout` seconds."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {timeout} s. {describe()}")
        time.sleep(pause)
