"""Other models of the transformers library, against what the library itself returns."""

import json

import numpy as np
import pytest
import tokenizers
import torch
import transformers
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

from model.library.hub import LoadingError
from model.library.transformers_model import LONGEST, load_transformers_model

TEXT, TARGET = "I love my cat.", "J'aime mon chat."
END, PAD = 1, 0


def save_tokenizer(folder, texts, *, spaces, end):
    """A trained tokenizer whose words begin with a sign for the space before them."""
    backend = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
    if spaces == "bytes":
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
    else:
        backend.pre_tokenizer = pre_tokenizers.Metaspace()
        backend.decoder = decoders.Metaspace()
        alphabet = []
    special = ["<pad>", "</s>", "<unk>", "<mask>"]
    backend.train_from_iterator(
        texts * 3,
        trainers.BpeTrainer(
            vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
        ),
    )
    names = {"pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>"}
    if end:
        backend.post_processor = processors.TemplateProcessing(
            single="$A </s>", special_tokens=[("</s>", END)]
        )
        names["eos_token"] = "</s>"
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **names)
    tokenizer.save_pretrained(folder)


BART = {
    "vocab_size": 400, "d_model": 16, "encoder_layers": 2, "decoder_layers": 3,
    "encoder_attention_heads": 2, "decoder_attention_heads": 4, "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 20, "max_position_embeddings": 40, "pad_token_id": PAD, "bos_token_id": PAD,
    "eos_token_id": END, "decoder_start_token_id": END, "forced_eos_token_id": None,
}  # fmt: skip
KINDS = {
    "T5": (
        transformers.T5ForConditionalGeneration,
        transformers.T5Config,
        {"vocab_size": 400, "d_model": 16, "d_kv": 6, "d_ff": 20, "num_layers": 2, "num_heads": 3,
         "num_decoder_layers": 1, "decoder_start_token_id": PAD},
    ),
    "BART": (transformers.BartForConditionalGeneration, transformers.BartConfig, BART),
    "Marian": (
        transformers.MarianMTModel, transformers.MarianConfig,
        BART | {"decoder_start_token_id": PAD},
    ),
    "GPT-2": (
        transformers.GPT2LMHeadModel,
        transformers.GPT2Config,
        {"vocab_size": 400, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 40,
         "bos_token_id": END, "eos_token_id": END},
    ),
    "DistilBERT": (
        transformers.DistilBertForMaskedLM,
        transformers.DistilBertConfig,
        {"vocab_size": 400, "dim": 16, "n_layers": 2, "n_heads": 4, "hidden_dim": 20,
         "max_position_embeddings": 40},
    ),
}  # fmt: skip
PAIRED = ("T5", "BART", "Marian")


@pytest.fixture(scope="module")
def folders(tmp_path_factory, pairs):
    """The folder of each kind of model, tiny and random."""
    texts = [text for pair in pairs for text in pair]
    made = {}
    for name, (model, config, options) in KINDS.items():
        made[name] = tmp_path_factory.mktemp(name)
        torch.manual_seed(2)
        model(config(**options)).save_pretrained(made[name])
        save_tokenizer(
            made[name], texts, spaces="bytes" if name == "GPT-2" else "sign", end=name in PAIRED
        )
    return made


@pytest.fixture(scope="module")
def load(folders):
    loaded = {name: load_transformers_model(folder) for name, folder in folders.items()}
    return loaded.__getitem__


def theirs(name, folders):
    """The model as transformers loads it, by its own class."""
    return KINDS[name][0].from_pretrained(folders[name], attn_implementation="eager").eval()


def ids_of(pieces):
    return torch.tensor([[piece.id for piece in pieces]])


@pytest.mark.parametrize("target", [None, TARGET])
@pytest.mark.parametrize("name", PAIRED)
def test_all_kinds_of_an_encoder_decoder_equal_transformers(name, target, load, folders):
    ours = load(name).attentions(TEXT, target)
    with torch.inference_mode():
        outputs = theirs(name, folders)(
            input_ids=ids_of(ours.source_tokens),
            decoder_input_ids=ids_of(ours.target_tokens),
            output_attentions=True,
        )
    expected = {
        "encoder": outputs.encoder_attentions,
        "decoder": outputs.decoder_attentions,
        "cross": outputs.cross_attentions,
    }
    assert load(name).kinds == tuple(ours.weights) == ("encoder", "decoder", "cross")
    for kind, layers in expected.items():
        np.testing.assert_allclose(ours.weights[kind], torch.cat(layers), atol=1e-6)
        sizes = len(ours.query_tokens(kind)), len(ours.key_tokens(kind))
        assert ours.weights[kind].shape[2:] == sizes
        np.testing.assert_allclose(ours.weights[kind].sum(-1), 1, atol=1e-5)
    assert (ours.weights["decoder"] == np.tril(ours.weights["decoder"])).all()


@pytest.mark.parametrize("name", PAIRED)
def test_without_a_target_the_decoder_reads_what_it_writes(name, load, folders):
    ours = load(name).attentions(TEXT)
    model = theirs(name, folders)
    with torch.inference_mode():
        written = model.generate(
            ids_of(ours.source_tokens),
            max_new_tokens=min(64, load(name).max_tokens - 1),
            do_sample=False,
        )
    read = ids_of(ours.target_tokens)
    assert read[0, 0] == model.config.decoder_start_token_id
    finished = written[0, -1] == END
    assert torch.equal(read, written[:, :-1] if finished else written)
    with torch.inference_mode():  # row i predicts the token that row i + 1 reads
        logits = model(input_ids=ids_of(ours.source_tokens), decoder_input_ids=read).logits
    assert torch.equal(logits.argmax(-1)[0, :-1], read[0, 1:])


@pytest.mark.parametrize("name", PAIRED)
def test_a_given_target_is_read_after_the_start_token(name, load, folders):
    ours = load(name).attentions(TEXT, TARGET)
    start, *rest = ours.target_tokens
    assert start.is_special
    assert start.id == theirs(name, folders).config.decoder_start_token_id
    assert not any(piece.is_special for piece in rest)
    assert ours.target == TARGET
    assert ours.source_tokens[-1].text == "</s>"


@pytest.mark.parametrize(("name", "kind"), [("GPT-2", "decoder"), ("DistilBERT", "encoder")])
def test_a_decoder_or_encoder_alone_equals_transformers(name, kind, load, folders):
    ours = load(name).attentions(TEXT)
    pieces = ours.query_tokens(kind)
    with torch.inference_mode():
        outputs = theirs(name, folders)(input_ids=ids_of(pieces), output_attentions=True)
    assert load(name).kinds == tuple(ours.weights) == (kind,)
    np.testing.assert_allclose(ours.weights[kind], torch.cat(outputs.attentions), atol=1e-6)
    assert ours.key_tokens(kind) is pieces
    assert (ours.target if kind == "decoder" else ours.source) == TEXT
    looks_ahead = not np.allclose(ours.weights[kind], np.tril(ours.weights[kind]))
    assert looks_ahead == (kind == "encoder")


@pytest.mark.parametrize("name", ["T5", "GPT-2"])
def test_pieces_are_the_text_in_order_and_words_are_what_spaces_part(name, load):
    model = load(name)
    kind = model.kinds[0]
    pieces = model.attentions(TEXT).query_tokens(kind)
    written = [piece for piece in pieces if not piece.is_special]
    assert "".join(piece.text for piece in written) == TEXT.replace(" ", "")
    words = {}
    for piece in written:
        assert TEXT[piece.start : piece.end] == piece.text
        words[piece.word] = words.get(piece.word, "") + piece.text
    assert list(words.values()) == TEXT.split()


def test_a_piece_of_a_letter_shows_its_name_in_the_vocabulary(load):
    pieces = load("GPT-2").attentions("a ☃").query_tokens("decoder")
    assert len(pieces) > 3
    assert all(piece.text for piece in pieces)


def test_unknown_characters_are_marked(load):
    pieces = load("T5").attentions("my ☃").source_tokens
    assert [piece.role for piece in pieces][-2:] == ["unknown", "special"]


@pytest.mark.parametrize("name", KINDS)
def test_a_long_text_is_cut_and_keeps_its_end(name, load):
    model = load(name)
    kind = model.kinds[0]
    ours = model.attentions("I love my cat. " * 200)
    pieces = ours.query_tokens(kind)
    assert len(pieces) == model.max_tokens == (LONGEST if name == "T5" else 40)
    assert pieces[-1].is_special == (name in PAIRED)


@pytest.mark.parametrize("name", ["T5", "GPT-2"])
def test_nothing_to_read(name, load):
    with pytest.raises(ValueError, match="nothing to read"):
        load(name).attentions(" ")


def test_a_model_that_gives_no_weights(load, monkeypatch):
    model = load("DistilBERT")
    outputs = transformers.modeling_outputs.BaseModelOutput(attentions=(None, None))
    monkeypatch.setattr(model.model, "forward", lambda **_: outputs)
    with pytest.raises(ValueError, match="does not give one weight of every head"):
        model.attentions(TEXT)


def test_a_config_without_any_such_model(folders, tmp_path):
    transformers.CLIPVisionConfig().save_pretrained(tmp_path)
    for file in folders["T5"].glob("*token*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "model.safetensors").write_bytes((folders["T5"] / "model.safetensors").read_bytes())
    with pytest.raises(LoadingError, match=r"lack \d+ tensors|cannot load"):
        load_transformers_model(tmp_path)


def test_a_marian_of_its_own_tokenizer(tmp_path, pairs):
    sentencepiece = pytest.importorskip("sentencepiece")
    texts = [text for pair in pairs for text in pair]
    (tmp_path / "texts").write_text("\n".join(texts * 9), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "texts"),
        model_prefix=str(tmp_path / "pieces"),
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    pieces = sentencepiece.SentencePieceProcessor(str(tmp_path / "pieces.model"))
    names = [pieces.id_to_piece(index) for index in range(pieces.get_piece_size())]
    vocabulary = {name: index for index, name in enumerate([*names, "<pad>"])}
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    tokenizer = transformers.MarianTokenizer(
        source_spm=str(tmp_path / "pieces.model"),
        target_spm=str(tmp_path / "pieces.model"),
        vocab=str(tmp_path / "vocab.json"),
    )
    options = {
        "vocab_size": len(vocabulary),
        "pad_token_id": vocabulary["<pad>"],
        "decoder_start_token_id": vocabulary["<pad>"],
        "eos_token_id": vocabulary["</s>"],
    }
    torch.manual_seed(0)
    transformers.MarianMTModel(transformers.MarianConfig(**BART | options)).save_pretrained(
        tmp_path
    )
    tokenizer.save_pretrained(tmp_path)
    ours = load_transformers_model(tmp_path).attentions(TEXT, TARGET)
    assert (ours.source, ours.target) == (TEXT, TARGET)
    assert [piece.is_special for piece in ours.target_tokens][:2] == [True, False]
