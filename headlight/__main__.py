"""The command `headlight`: open the app on this machine, for a room, or for a class."""

import argparse
import os
import secrets
import sys

from streamlit.web import cli

try:
    from headlight.pages.server import door, serving
except ValueError as error:  # of an environment variable
    sys.exit(str(error))

MOST_WORKERS = 256


def parse(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return the options of this command, and the options for `streamlit run`."""
    parser = argparse.ArgumentParser(
        prog="headlight",
        description="Open Headlight in the browser, on this machine only.",
        epilog="All other options go to `streamlit run`, such as --server.headless true.",
        allow_abbrev=False,
    )
    where = "where it listens; 8501 or the next free one"
    parser.add_argument("--port", "--server.port", type=int, help=where)
    parser.add_argument(
        "--share", action="store_true", help="open it to all who have the link or QR code it shows"
    )
    parser.add_argument(
        "--workers",
        type=int,
        nargs="?",
        const=os.cpu_count(),
        help="share it by so many processes, or one for each core; needs HAProxy",
    )
    own, others = parser.parse_known_args(words)
    if own.workers is not None and not 1 <= own.workers <= MOST_WORKERS:
        parser.error(f"--workers takes a whole number from 1 to {MOST_WORKERS}.")
    if own.port is not None:
        others += ["--server.port", str(own.port)]
    return own, others


def main() -> None:
    """Start the app with the options of the command line, until it is told to end."""
    own, others = parse(sys.argv[1:])
    if own.share or own.workers:
        os.environ.setdefault(door.VARIABLE, secrets.token_urlsafe(12))
        others = ["--server.address", "0.0.0.0", *others]
    try:
        if own.workers:
            serving.run(own.workers, others)
        else:
            cli.main(["run", str(serving.APP), *others], prog_name="headlight")
    except (OSError, OverflowError) as error:  # of an address or a port
        sys.exit(f"Headlight cannot start: {error}")


if __name__ == "__main__":
    main()
