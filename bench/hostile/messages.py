"""Messages that no browser sends: raw bytes, wrong values, unknown parts of a page."""

from __future__ import annotations

import random
from collections.abc import Mapping

from streamlit.proto.BackMsg_pb2 import BackMsg

from bench.hostile.addresses import VALUES
from bench.hostile.damaged import damaged


def message(chance: random.Random, ids: Mapping[str, str]) -> bytes:
    """Return a message to a page; `ids` are those of its widgets, by key."""
    message = BackMsg()
    rerun = message.rerun_script
    for key in chance.sample([*ids], min(len(ids), chance.choice((1, 2, 5)))):
        give(rerun.widget_states.widgets.add(id=ids[key]), chance)
    if chance.random() < 0.3:
        rerun.query_string = f"sentence={chance.choice(VALUES)}"[:2_000].encode().decode()
    if chance.random() < 0.2:
        rerun.fragment_id = str(chance.random())
    if chance.random() < 0.2:
        rerun.page_script_hash = chance.choice(("", "0" * 32, "../app.py"))
    data = message.SerializeToString()
    return damaged(data, chance) if chance.random() < 0.4 else data


def give(state: object, chance: random.Random) -> None:
    """Give a widget a value, usually of a type that it does not have."""
    text = chance.choice(VALUES).encode(errors="replace").decode()
    match chance.randrange(9):
        case 0:
            state.string_value = text
        case 1:
            state.int_value = chance.choice((-(2**62), -1, 0, 3, 2**62))
        case 2:
            state.double_value = chance.choice((float("nan"), float("inf"), -1.5, 1e308))
        case 3:
            state.bool_value = chance.random() < 0.5
        case 4:
            state.trigger_value = True
        case 5:
            state.string_array_value.data.extend([text] * chance.choice((0, 1, 40)))
        case 6:
            state.double_array_value.data.extend([chance.random()] * chance.choice((0, 1, 3)))
        case 7:
            state.json_value = text
        case 8:
            answers = chance.choice(("[[1,0]]", "[]", "[[1]]", "[[1,{}]]", '"x"', "{}"))
            state.json_trigger_value = f'[{{"event":"picked","value":{{"answers":{answers}}}}}]'
