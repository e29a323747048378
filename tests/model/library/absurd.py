"""Folders that ask for too much, and a process of little memory and time that opens them."""

import json
import subprocess
import sys
from contextlib import contextmanager

# Opens the folders that it is given, each with little memory and processor time.
CHILD = """
import resource, sys, torch
from headlight import LoadingError, load_model

torch.set_num_threads(1)
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
for line in sys.stdin:
    seconds = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds + 60, -1))
    try:
        load_model(line.rstrip())
        print("loaded", flush=True)
    except LoadingError as error:
        print(error, flush=True)
"""


@contextmanager
def opener():
    """A function from a folder to what a process of little memory and time says of it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", CHILD], **pipes) as child:

        def said_of(folder):
            print(folder, file=child.stdin, flush=True)
            said = child.stdout.readline().strip()
            assert said, f"{folder} took the process too much"
            return said

        yield said_of
        child.stdin.close()


def change_json(path, change):
    entries = json.loads(path.read_bytes())
    change(entries)
    path.write_text(json.dumps(entries), encoding="utf-8")


def replace(times, letter="a"):
    """A rule that puts a letter many times for one."""
    return {"type": "Replace", "pattern": {"String": letter}, "content": letter * times}


def sequence(kind, *rules):
    return {"type": "Sequence", kind: list(rules)}


MULTIPLYING = [replace(1_000)] * 4
