"""The plain words of the page Models."""

from model.reader import Ability

SUGGESTIONS = (
    "openai-community/gpt2",
    "distilbert/distilgpt2",
    "Qwen/Qwen3-0.6B",
    "google-bert/bert-base-uncased",
    "Helsinki-NLP/opus-mt-en-fr",
    "google-t5/t5-small",
    "distilbert/distilbert-base-uncased-finetuned-sst-2-english",
)
INTRO = (
    "Any model of the transformers library whose weights are saved as safetensors can be loaded "
    "here, and looked at on every page. It is known to you alone by the name you type. None comes "
    "along with the app, no BERT either: press one of the names below and then Load, which "
    "downloads it once, or name a folder that has it already."
)
ABILITIES: dict[Ability, str] = {
    "write": "write",
    "read a pair": "read a pair of sentences",
    "mask words": "fill in hidden words",
    "pad": "read padding",
    "open cells": "look where its mask forbids",
    "take apart": "show how a weight comes about",
    "add up heads": "show what each head adds to the residual stream",
    "add up logits": "show what each part adds to the logits",
    "show the stream": "show its residual stream",
    "own layers": "run parts of its layers alone",
    "move positions": "read with other positions",
    "compare words": "compare words by their embeddings",
}
PARITY = (
    "The same text is read by transformers' own classes, and the largest differences of any two "
    "numbers are shown. It loads the checkpoint once more."
)
DIFFERENCES = (
    "Largest differences from transformers' own classes: {outputs} in {of}, {weights} in "
    "the weights of all heads."
)
NO_PARITY = "It could not be compared:"
