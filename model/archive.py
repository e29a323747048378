"""A checkpoint as one zip file, which anybody may download or upload."""

import io
import json
import tempfile
import unicodedata
import zipfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path, PurePosixPath

import tokenizers
import torch
from safetensors.torch import load
from torch import Tensor

from headlight.model.checkpoint import (
    CONFIG,
    TOKENIZER,
    WEIGHTS,
    assemble,
    refuse_misfit,
    save_checkpoint,
)
from headlight.model.config import TransformerConfig, refuse_outside
from headlight.model.memory_layout import lay_out
from headlight.model.own_reader import OwnReader
from headlight.model.tokenizer import Tokenizer
from headlight.model.tokens import SPECIAL_TOKENS
from headlight.model.transformer import Transformer
from headlight.model.translator import reader_of

MEGABYTE = 1024**2
LARGEST_ARCHIVE = 25 * MEGABYTE
LARGEST = {WEIGHTS: 64 * MEGABYTE, CONFIG: 16 * 1024, TOKENIZER: 4 * MEGABYTE}  # when unpacked

CONFIG_BOUNDS: dict[str, tuple[float, float]] = {
    "source_vocab_size": (len(SPECIAL_TOKENS) + 1, 50_000),
    "target_vocab_size": (len(SPECIAL_TOKENS) + 1, 50_000),
    "d_model": (2, 1_024),
    "heads": (1, 32),
    "encoder_layers": (0, 12),
    "decoder_layers": (1, 12),
    "d_ff": (1, 8_192),
    "dropout": (0.0, 0.9),
    "norm_epsilon": (1e-12, 0.1),
    "max_positions": (2, 4_096),
    "pad_id": (0, 0),
}
LONGEST_TOKEN = 100  # characters
TOKENIZER_GROWS = 10  # at most this many times its file's size in memory
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
Reserve = Callable[[int], object]


def pack_checkpoint(model: Transformer, tokenizer: Tokenizer) -> bytes:
    """Return a zip file of what `save_checkpoint` writes; unpacked, it is a checkpoint folder."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w") as archive:
        save_checkpoint(Path(folder), model, tokenizer, torch.float32)
        for name in (WEIGHTS, CONFIG, TOKENIZER):
            # Without the time of day, so that the same model gives the same bytes.
            entry = zipfile.ZipInfo(name)
            archive.writestr(entry, (Path(folder) / name).read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def unpack_checkpoint(data: bytes, reserve: Reserve = lambda size: None) -> OwnReader:
    """Return a reader for a zipped checkpoint folder from any source.

    Nothing is written to disk. `reserve` is called with the bytes that the model needs, before it
    is made, and may raise ValueError. Raises ValueError with one sentence unless these are the
    three files of a checkpoint that fit each other, within the bounds above.
    """
    try:
        return read_checkpoint(unzip(data), reserve)
    except ValueError:
        raise
    except Exception as error:  # of a library, or too little memory
        raise ValueError("No model can be made of what the file holds.") from error


def read_checkpoint(files: dict[str, bytes], reserve: Reserve) -> OwnReader:
    """Return a reader for the files of a checkpoint; see `unpack_checkpoint`."""
    config = read_config(files[CONFIG])
    tokenizer = read_tokenizer(files[TOKENIZER])
    weights = read_weights(files[WEIGHTS])
    refuse_misfit(config, tokenizer, {name: weight.shape for name, weight in weights.items()})
    reserve(bytes_in_memory(config) + TOKENIZER_GROWS * len(files[TOKENIZER]))
    model = assemble(config, tokenizer, weights)
    refuse_overflow(model)
    return reader_of(lay_out(model), tokenizer)


def unzip(data: bytes) -> dict[str, bytes]:
    """Return the three files of a zipped checkpoint, by name; raise ValueError for any other."""
    if len(data) > LARGEST_ARCHIVE:
        raise ValueError(f"The file is larger than {LARGEST_ARCHIVE // MEGABYTE} MB.")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except Exception as error:  # damaged files raise errors of many kinds
        raise ValueError("The file is not a complete zip file, or damaged.") from error
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    paths = [PurePosixPath(entry.filename) for entry in entries]
    if len({path.parent for path in paths}) > 1 or any(
        len(path.parts) > 2 or ".." in path.parts or path.is_absolute() for path in paths
    ):
        raise ValueError("The zip file has to hold one folder, or no folder, and nothing else.")
    if sorted(path.name for path in paths) != sorted(LARGEST):
        raise ValueError(f"The zip file has to hold exactly {', '.join(LARGEST)}.")
    return {
        path.name: read_entry(archive, entry, path.name)
        for path, entry in zip(paths, entries, strict=True)
    }


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> bytes:
    """Return a file of a zip file; raise ValueError if it is too large or cannot be read."""
    if entry.file_size > LARGEST[name]:
        raise ValueError(f"{name} is larger than {LARGEST[name] // 1024} KB when unpacked.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is compressed in an unusual way.")
    try:
        return archive.read(entry)  # no more than its size, or it is damaged
    except Exception as error:  # as above
        raise ValueError(f"{name} is damaged, or encrypted.") from error


def read_json(data: bytes, name: str) -> dict:
    """Return a JSON object; raises ValueError for anything else."""
    try:
        entries = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is not JSON.") from error
    if not isinstance(entries, dict):
        raise ValueError(f"{name} is not a JSON object.")
    return entries


def read_config(data: bytes) -> TransformerConfig:
    """Return a config whose sizes are within bounds; raises ValueError for anything else."""
    defaults = vars(TransformerConfig(0, 0))  # sizes that are out of bounds, so have to be given
    given = defaults | read_json(data, CONFIG)
    if given.keys() != defaults.keys():
        raise ValueError(f"{CONFIG} may hold only the entries {', '.join(defaults)}.")
    refuse_outside(given, CONFIG_BOUNDS)
    for name in ("tie_embeddings", "look_ahead_mask"):
        if not isinstance(given[name], bool):
            raise ValueError(f"{name} has to be true or false.")
    return TransformerConfig(**given)


def read_tokenizer(data: bytes) -> Tokenizer:
    """Return a tokenizer of one of our three kinds; raises ValueError for anything else.

    Only the vocabulary and the merges are taken from the file, since rules for splitting text can
    be written so that they run forever.
    """
    given = read_json(data, TOKENIZER)
    given_model = given.get("model")
    if not isinstance(given_model, dict):
        raise ValueError(f"{TOKENIZER} has no model.")
    vocabulary, merges = given_model.pop("vocab", None), given_model.pop("merges", None)
    kinds = (
        Tokenizer.train_characters([]),
        Tokenizer.train_byte_pairs([], 0),
        Tokenizer.train_byte_pairs([], 0, whole_words=None),  # of a file that was made earlier
    )
    for own in kinds:
        rules = json.loads(own.backend.to_str())
        has_merges = "merges" in rules["model"]
        del rules["model"]["vocab"]
        rules["model"].pop("merges", None)
        if rules == given and has_merges == (merges is not None):
            break
    else:
        raise ValueError(f"{TOKENIZER} splits text in a way that no model here was trained with.")
    refuse_vocabulary(vocabulary)
    rules["model"]["vocab"] = vocabulary
    if has_merges:
        refuse_merges(merges, vocabulary)
        rules["model"]["merges"] = merges
    return Tokenizer(tokenizers.Tokenizer.from_str(json.dumps(rules)))


def refuse_vocabulary(vocabulary: object) -> None:
    """Raise ValueError unless tokens are numbered from 0, the special ones first."""
    if not isinstance(vocabulary, dict) or len(vocabulary) > CONFIG_BOUNDS["source_vocab_size"][1]:
        raise ValueError(f"{TOKENIZER} has no vocabulary, or one that is too large.")
    ids = list(vocabulary.values())
    if any(type(index) is not int for index in ids) or sorted(ids) != list(range(len(ids))):
        raise ValueError(f"The tokens of {TOKENIZER} are not numbered from 0 on.")
    if any(vocabulary.get(token) != index for index, token in enumerate(SPECIAL_TOKENS)):
        raise ValueError(f"The first tokens of {TOKENIZER} are not {', '.join(SPECIAL_TOKENS)}.")
    for token in vocabulary:
        # Control characters and lone surrogates cannot be shown.
        shown = all(unicodedata.category(character) not in ("Cc", "Cs") for character in token)
        if not 0 < len(token) <= LONGEST_TOKEN or not shown:
            raise ValueError(f"{TOKENIZER} has a token that is empty, too long or not text.")


def refuse_merges(merges: object, vocabulary: dict[str, int]) -> None:
    """Raise ValueError unless each merge is a pair of tokens whose concatenation is a token."""
    if not isinstance(merges, list) or len(merges) > len(vocabulary):
        raise ValueError(f"{TOKENIZER} has no merges, or too many.")
    for pair in merges:
        if (
            not isinstance(pair, list)
            or len(pair) != 2
            or not all(isinstance(token, str) for token in pair)
            or not {*pair, "".join(pair)} <= vocabulary.keys()
        ):
            raise ValueError(f"{TOKENIZER} merges what its vocabulary does not have.")


def read_weights(data: bytes) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file; raise ValueError for anything but floats."""
    try:
        weights = load(data)
    except Exception as error:  # the library passes on any error of its parser
        raise ValueError(f"{WEIGHTS} is not a safetensors file.") from error
    if any(weight.dtype not in DTYPES for weight in weights.values()):
        raise ValueError(f"{WEIGHTS} has numbers of a type other than 16 or 32 bit floats.")
    return weights


def bytes_in_memory(config: TransformerConfig) -> int:
    """Return the bytes that a model of this shape takes when it is laid out, without making it."""
    with torch.device("meta"):
        model = lay_out(Transformer(config))
    parts = set(chain(model.parameters(), model.buffers()))
    return sum(part.numel() * part.element_size() for part in parts)


@torch.inference_mode()
def refuse_overflow(model: Transformer) -> None:
    """Raise ValueError if weights are not finite, or so large that the model overflows."""
    if not all(weight.isfinite().all() for weight in model.parameters()):
        raise ValueError(f"{WEIGHTS} has weights that are infinite or not a number.")
    read = min(model.config.source_vocab_size, model.config.max_positions)
    ids = torch.arange(read)[None, -64:]
    if not model(ids, ids).isfinite().all():
        raise ValueError(f"{WEIGHTS} has weights so large that the model cannot compute.")
