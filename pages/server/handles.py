"""Raises the system's limit on the files and connections that this process may have open."""

import contextlib

try:
    import resource
except ImportError:  # on Windows, which has no such limit
    resource = None

WANTED = (65_536, 10_240)  # limits to try; the second one is the most that macOS accepts
OF_PROCESS = 60  # files that the process itself needs, for libraries and pages
OF_VISITOR = 2  # a visitor's websocket, and at times a file that the page loads
FEW = 200  # the message at the start warns if there is room for fewer visitors
NOTE = "The system lets Headlight open {most} files, enough for some {visitors} visitors at once."


def raise_limit() -> None:
    """Raise the number of files that this process may have open, as far as the system allows."""
    if resource is None:
        return
    now, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in WANTED:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if now == resource.RLIM_INFINITY or most <= now:
            break
        # An error means that the system allows fewer files: then try the next limit.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            break


def few_visitors() -> str:
    """Return a sentence on how many visitors there is room for, or "" if there is enough room."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else 0
    visitors = (most - OF_PROCESS) // OF_VISITOR
    return NOTE.format(most=most, visitors=max(visitors, 0)) if most > 0 and visitors < FEW else ""
