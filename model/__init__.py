"""A Transformer from scratch, with every attention stage visible.

    from headlight.model import load
    translator = load("en-fr")
    translator.translate("I love my cat.").text

To read the Transformer, take these files in this order: config.py (its shape), tokens.py and
trace.py (its input, and the record of a call), masks.py, positions.py, cache.py (what decoding
keeps), attention.py (the heart of it), layers.py, transformer.py. They need nothing but torch.

Around it, tokenizer.py, checkpoint.py, translator.py and (for models with only a decoder)
continuer.py make it read and write text; edits/ describes a visitor's changes, decoding/ chooses
the tokens, insight/ takes a run apart, training/ trains, and library/ reads other people's models.
"""

from headlight.model.config import TransformerConfig
from headlight.model.continuer import Continuer
from headlight.model.decoding.steps import Decoding, Translation, Writing
from headlight.model.decoding.strategies import Strategy
from headlight.model.library.bert_reader import BertReader
from headlight.model.library.hub import LoadingError
from headlight.model.library.loading import load_bert, load_model
from headlight.model.library.module_reader import ModuleReader
from headlight.model.library.opening import open_model
from headlight.model.library.transformers_reader import TransformersReader
from headlight.model.library.watch import Seen, watch
from headlight.model.positions import PositionEdit
from headlight.model.reader import Reader
from headlight.model.trace import AttentionEdit, AttentionRecord, Run, Site, Trace
from headlight.model.transformer import Transformer
from headlight.model.translator import Translator, load

__all__ = [
    "AttentionEdit",
    "AttentionRecord",
    "BertReader",
    "Continuer",
    "Decoding",
    "LoadingError",
    "ModuleReader",
    "PositionEdit",
    "Reader",
    "Run",
    "Seen",
    "Site",
    "Strategy",
    "Trace",
    "Transformer",
    "TransformerConfig",
    "TransformersReader",
    "Translation",
    "Translator",
    "Writing",
    "load",
    "load_bert",
    "load_model",
    "open_model",
    "watch",
]
