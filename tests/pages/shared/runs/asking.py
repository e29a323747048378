"""Threads that ask for something, as those of visitors do."""

from concurrent.futures import Future
from contextlib import contextmanager
from threading import Semaphore, Thread
from unittest.mock import patch


class Asked:
    """Someone who asks in a thread of their own: what they got, or what was raised."""

    def __init__(self, ask):
        self.got = self.raised = None
        self.thread = Thread(target=self.run, args=(ask,), daemon=True)
        self.thread.start()

    def run(self, ask):
        try:
            self.got = ask()
        except BaseException as error:
            self.raised = error

    def join(self):
        self.thread.join(20)
        assert not self.thread.is_alive()
        return self


@contextmanager
def waiters():
    """A semaphore that counts those who wait for their turn or for another's answer."""
    count, original = Semaphore(0), Future.result

    def result(self, timeout=None):
        if not self.done():
            count.release()
        return original(self, timeout)

    with patch.object(Future, "result", result):
        yield count


def finished(job):
    """What a job loaded."""
    job.join(60)
    assert job.status == "finished", job.note
    return job.result
