"""Reading what a page drew."""

import base64
import json
import struct

import numpy as np

SAVE_MENU = "headlight_save_menu"
NO_PICTURES = (SAVE_MENU, "headlight_library")


def canvas_pictures(app):
    """The header and the bytes of each canvas picture on the page, in order."""
    return bidi_parts(app, lambda name: name not in NO_PICTURES)


def save_menus(app):
    """The header and the bytes of each picture's menu that saves it, in order."""
    return bidi_parts(app, lambda name: name == SAVE_MENU)


def bidi_parts(app, wanted):
    """The header and the bytes of each browser part with a wanted name."""
    found = []
    for part in app.get("bidi_component"):
        if not wanted(part.proto.component_name):
            continue
        data = part.proto.bytes
        (length,) = struct.unpack("<I", data[:4])
        found.append((json.loads(data[4 : 4 + length]), data[4 + length :]))
    return found


def heatmaps(app):
    """The values and the header of each heatmap of the project's own on the page, in order."""
    found = []
    for header, data in bidi_parts(app, lambda name: name == "headlight_heatmap"):
        shape = len(header["rows"]), len(header["columns"])
        found.append((np.frombuffer(data, "<f4").reshape(shape), header))
    return found


def plotly_heatmaps(app):
    """The values, the layout and the name of each Plotly heatmap on the page, in order."""
    found = []
    for chart in app.get("plotly_chart"):
        spec = json.loads(chart.proto.spec)
        z = spec["data"][0]["z"]
        flat = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"])
        values = flat.reshape([int(side) for side in z["shape"].split(",")])
        found.append((values, spec["layout"], spec["data"][0]["colorbar"]["title"]["text"]))
    return found
