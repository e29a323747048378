"""A Transformer from scratch, with every attention stage in the open.

from model import load
translator = load("en-fr")
translator.translate("I love my cat.").text
"""

from model.bert_reader import BertReader, load_bert
from model.config import TransformerConfig
from model.foreign import ForeignModel, load_foreign
from model.hub import LoadingError
from model.steps import Decoding, Translation
from model.trace import AttentionEdit, AttentionRecord, PositionEdit, Run, Site, Trace
from model.transformer import Transformer
from model.translator import Translator, load

__all__ = [
    "AttentionEdit",
    "AttentionRecord",
    "BertReader",
    "Decoding",
    "ForeignModel",
    "LoadingError",
    "PositionEdit",
    "Run",
    "Site",
    "Trace",
    "Transformer",
    "TransformerConfig",
    "Translation",
    "Translator",
    "load",
    "load_bert",
    "load_foreign",
]
