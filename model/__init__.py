"""A Transformer from scratch, with every attention stage in the open.

from model import load
translator = load("en-fr")
translator.translate("I love my cat.").text
"""

from model.config import TransformerConfig
from model.steps import Decoding, Translation
from model.trace import AttentionEdit, AttentionRecord, PositionEdit, Run, Site, Trace
from model.transformer import Transformer
from model.translator import Translator, load

__all__ = [
    "AttentionEdit",
    "AttentionRecord",
    "Decoding",
    "PositionEdit",
    "Run",
    "Site",
    "Trace",
    "Transformer",
    "TransformerConfig",
    "Translation",
    "Translator",
    "load",
]
