"""Reading what a page drew."""

import base64
import json
import struct

import numpy as np

from tests.viz.unpacking import split

SAVE_MENU, LIBRARY = "headlight_save_menu", "headlight_library"


def canvas_pictures(app):
    """The header and the bytes of each canvas picture on the page, in order."""
    return [split(picture) for name, picture, _ in mounted(app) if name != SAVE_MENU]


def save_menus(app):
    """The header and the bytes of each picture's menu that saves it, in order."""
    menus = [picture if name == SAVE_MENU else menu for name, picture, menu in mounted(app)]
    return [split(menu) for menu in menus if menu]


def mounted(app):
    """The name of each browser part, its picture's bytes, and those of the menu that saves it."""
    for part in app.get("bidi_component"):
        if part.proto.component_name != LIBRARY:
            data = part.proto.bytes
            (length,) = struct.unpack("<I", data[-4:])
            yield part.proto.component_name, data[: -4 - length], data[-4 - length : -4]


def heatmaps(app):
    """The values and the header of each heatmap of the project's own on the page, in order."""
    results = []
    for name, picture, _ in mounted(app):
        if name != "headlight_heatmap":
            continue
        header, data = split(picture)
        shape = len(header["rows"]), len(header["columns"])
        values = np.frombuffer(data, "<f4", count=shape[0] * shape[1])
        results.append((values.reshape(shape), header))
    return results


def plotly_heatmaps(app):
    """The values, the layout and the name of each Plotly heatmap on the page, in order."""
    results = []
    for chart in app.get("plotly_chart"):
        spec = json.loads(chart.proto.spec)
        z = spec["data"][0]["z"]
        flat = np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"])
        values = flat.reshape([int(side) for side in z["shape"].split(",")])
        results.append((values, spec["layout"], spec["data"][0]["colorbar"]["title"]["text"]))
    return results
