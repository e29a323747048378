"""The command `headlight`: open the app for this machine, or share it with a room or class."""

import argparse
import os
import secrets
import sys

from streamlit.web import cli

try:
    from headlight.pages.server import door, serving
except ValueError as error:  # an environment variable has a wrong value
    sys.exit(str(error))

MOST_WORKERS = 256


def parse(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Split the words of the command line into this command's options and `streamlit run`'s."""
    parser = argparse.ArgumentParser(
        prog="headlight",
        description="Open Headlight in the browser, on this machine only.",
        epilog="All other options go to `streamlit run`, such as --server.headless true.",
        allow_abbrev=False,
    )
    where = "the port of the app (default: 8501, or the next free one)"
    parser.add_argument("--port", "--server.port", type=int, help=where)
    parser.add_argument(
        "--share", action="store_true", help="let everyone in who has the link or QR code it shows"
    )
    parser.add_argument(
        "--workers",
        type=int,
        nargs="?",
        const=os.cpu_count(),
        help="share it, served by this many processes (default: one per core); needs HAProxy",
    )
    own, others = parser.parse_known_args(words)
    if own.workers is not None and not 1 <= own.workers <= MOST_WORKERS:
        parser.error(f"--workers takes a whole number from 1 to {MOST_WORKERS}.")
    if own.port is not None:
        others += ["--server.port", str(own.port)]
    return own, others


def main() -> None:
    """Start the app with the options of the command line, and serve it until it is stopped."""
    own, others = parse(sys.argv[1:])
    if own.share or own.workers:
        os.environ.setdefault(door.VARIABLE, secrets.token_urlsafe(12))
        others = ["--server.address", "0.0.0.0", *others]
    try:
        if own.workers:
            serving.run(own.workers, others)
        else:
            cli.main(["run", str(serving.APP), *others], prog_name="headlight")
    except (OSError, OverflowError) as error:  # the address or the port cannot be used
        sys.exit(f"Headlight cannot start: {error}")


if __name__ == "__main__":
    main()
