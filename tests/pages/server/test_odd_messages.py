"""Messages that no browser sends: the page of another visitor is drawn as ever."""

import random

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed

from bench.visitors import Visitor
from tests.apart import run_apart
from tests.browser.fixtures import running_server
from tests.odd_texts import ODD_TEXTS

SESSIONS, A_SESSION = 3, 10  # and messages of each
VALUES = (
    *(text[:2_000] for text in ODD_TEXTS.values()),
    *("-1", "7", "1e9", "9" * 400, "nan", "../../etc/passwd", "own-0", "gate.cross.99.99.9"),
)
ANSWERS = ("[[1,0]]", "[]", "[[1]]", "[[1,{}]]", '"x"', "{}")
FIELDS = {
    "int_value": (-(2**62), -1, 0, 3, 2**62),
    "double_value": (float("nan"), float("inf"), -1.5, 1e308),
    "bool_value": (False, True),
    "trigger_value": (True,),
    "string_value": VALUES,
    "json_value": VALUES,
    "json_trigger_value": [f'[{{"event":"picked","value":{{"answers":{a}}}}}]' for a in ANSWERS],
}


def message(dice, ids):
    """A message to a page with widgets of these ids, most of whose values are of a wrong type."""
    message = BackMsg()
    rerun = message.rerun_script
    for identity in dice.sample(ids, min(len(ids), dice.choice((1, 2, 5)))):
        widget = rerun.widget_states.widgets.add(id=identity)
        field = dice.choice([*FIELDS, "string_array_value", "double_array_value"])
        if field == "string_array_value":
            widget.string_array_value.data.extend([dice.choice(VALUES)] * dice.choice((0, 1, 40)))
        elif field == "double_array_value":
            widget.double_array_value.data.extend([dice.random()] * dice.choice((0, 1, 3)))
        else:
            setattr(widget, field, dice.choice(FIELDS[field]))
    rerun.query_string = dice.choice(("", f"sentence={dice.choice(VALUES)}"))
    rerun.fragment_id = dice.choice(("", "", str(dice.random())))
    rerun.page_script_hash = dice.choice(("", "", "0" * 32, "../app.py"))
    data = message.SerializeToString()
    return damaged(data, dice) if dice.random() < 0.4 else data


def damaged(data, dice):
    """Bytes with some cut off, changed, left out, repeated or put in."""
    start, length = dice.randrange(len(data) + 1), dice.choice((1, 2, 16, 200))
    before, part, after = data[:start], data[start : start + length], data[start + length :]
    between = (b"", dice.randbytes(1), dice.randbytes(length) + part, part * 50)
    return before if dice.random() < 0.2 else before + dice.choice(between) + after


async def send(stranger, data):
    """Send a message that the server may accept, ignore, answer with an error, or hang up on."""
    try:
        await stranger.connection.send(data)
    except ConnectionClosed:
        await stranger.__aenter__()


async def disturb(address, dice):
    """Send messages of several sessions; after each, draw the page of another visitor."""
    async with Visitor(address) as other:
        for _ in range(SESSIONS):
            async with Visitor(address) as stranger:
                await stranger.rerun({}, "")
                names = [*stranger.ids.values()]
                ids = [*names, *(f"$$STREAMLIT_INTERNAL_KEY_{name}__events" for name in names)]
                for _ in range(A_SESSION):
                    await send(stranger, message(dice, ids))
                    await other.rerun({}, "")


@pytest.mark.matrix
def test_whatever_one_visitor_sends_the_page_of_another_is_drawn():
    with running_server(HEADLIGHT_TOKEN="") as address:
        run_apart(disturb(address, random.Random(0)))
