"""A Transformer from scratch, with every attention stage visible.

    from headlight.model.translator import load
    translator = load("en-fr")
    translator.translate("I love my cat.").text

To read the Transformer, take these files in this order: config.py (its shape), tokens.py and
trace.py (its input, and the record of a call), masks.py, positions.py, cache.py (what decoding
keeps), attention.py (the heart of it), layers.py, transformer.py. They need nothing but torch.

Around it, tokenizer.py, checkpoint.py, translator.py and (for models with only a decoder)
continuer.py make it read and write text; edits/ describes a visitor's changes, decoding/ chooses
the tokens, insight/ takes a run apart, training/ trains, and library/ reads other people's models.
"""
