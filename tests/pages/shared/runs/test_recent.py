from threading import Thread

from pages.shared.runs.recent import Recent


def test_what_was_asked_for_last_stays():
    recent = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert [recent.get(key) for key in "abc"] == [1, None, 3]


def test_sizes_count_and_the_newest_stays_however_large():
    recent = Recent(10, len)
    for text in ("aaaa", "bbbb", "cc"):
        recent.put(text, text)
    assert list(recent.values) == ["aaaa", "bbbb", "cc"]
    recent.put("d", "d" * 8)
    assert list(recent.values) == ["cc", "d"]
    recent.put("e", "e" * 100)
    assert list(recent.values) == ["e"]


def test_a_value_put_again_counts_once():
    recent = Recent(2)
    for value in range(5):
        recent.put("a", value)
    recent.put("b", 0)
    assert recent.get("a") == 4


def test_threads_share_it():
    recent = Recent(3)

    def put(first):
        for number in range(200):
            recent.put((first, number % 7), number)
            recent.get((first, number % 5))

    threads = [Thread(target=put, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(recent.values) == 3
