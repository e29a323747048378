"""A picture as one line of HTML."""

import base64
import re

import numpy as np

from headlight.viz import attention_heatmap, head_grid

LINE = re.compile(
    r'<(?P<name>headlight-[a-z-]+-[0-9a-f]{8}) translate="no" data="(?P<data>[A-Za-z0-9+/=]+)">'
    r"(?P<words>[^<]*)"
    r'</(?P=name)><script type="module" '
    r'src="data:text/javascript;base64,(?P<code>[A-Za-z0-9+/=]+)"></script>'
)


def heatmap(keys):
    return attention_heatmap(np.eye(2), ["a", "</script>"], keys)


def parts_of(line):
    match = LINE.fullmatch(line)
    assert match
    return match


def test_a_line_holds_the_picture_its_code_and_its_caption():
    picture = heatmap(["<b>", "é"])
    result = parts_of(picture.to_component("“<b>”\n& more"))
    assert base64.b64decode(result["data"]) == picture.data
    assert result["words"] == "“&lt;b&gt;” &amp; more"
    code = base64.b64decode(result["code"]).decode("utf-8")
    assert f'$component.define("{result["name"]}"' in code
    assert picture.part.code() in code
    assert not re.search(r"https?:", code.replace("http://www.w3.org/2000/svg", ""))


def test_the_name_of_the_element_tells_its_code_and_not_its_data():
    one, other = (
        parts_of(heatmap(keys).to_component())["name"] for keys in (["a", "b"], ["c", "d"])
    )
    assert one == other
    assert one != parts_of(head_grid(np.ones((1, 1, 2, 2)), "ab", "ab").to_component())["name"]
