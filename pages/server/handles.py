"""How many files and connections the system lets this process have open at once."""

import contextlib

try:
    import resource
except ImportError:  # on Windows, which has no such limit
    resource = None

WANTED = (65_536, 10_240)  # the second one is the most that macOS takes
OF_PROCESS = 60  # for the process itself: libraries, pages that are being read
OF_VISITOR = 2  # a websocket and, now and then, files that the page loads
FEW = 200  # visitors
NOTE = "The system lets it open {most} files, enough for some {visitors} visitors at once."


def raise_limit() -> None:
    """Let this process have as many files open as the system allows."""
    if resource is None:
        return
    now, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in WANTED:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if now == resource.RLIM_INFINITY or most <= now:
            break
        with contextlib.suppress(OSError, ValueError):  # more than the system takes
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            break


def few_visitors() -> str:
    """Return a sentence on how many visitors find room, if they are few."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else 0
    visitors = (most - OF_PROCESS) // OF_VISITOR
    return NOTE.format(most=most, visitors=max(visitors, 0)) if most > 0 and visitors < FEW else ""
