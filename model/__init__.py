"""A Transformer from scratch, with every attention stage visible.

    from headlight.model.translator import load
    translator = load("en-fr")
    translator.translate("I love my cat.").text

The Transformer is in transformer/, which needs nothing but torch. Read its files in this order:
config.py (sizes), trace.py (the record of a call), masks.py, positions.py, cache.py (the keys and
values that decoding keeps), attention.py, layers.py, transformer.py, decode.py.

The files around it: tokenizer.py, checkpoint.py, translator.py and (for models with only a decoder)
continuer.py make it read and write text; edits/ describes a visitor's changes, decoding/ chooses
the tokens, insight/ analyses a run, training/ trains, and library/ reads other people's models.
"""
