import sys

import torch

from headlight.model.checkpoint import load_position_counts, save_checkpoint
from headlight.model.training.data import EncodedPair
from recipe.position_counts import count_positions, main


def test_a_position_is_reached_by_the_pairs_that_have_a_token_there():
    pairs = [EncodedPair([9], [9, 9, 9]), EncodedPair([9, 9], [9]), EncodedPair([9], [])]
    # The encoder reads the end token too, and the decoder the start token.
    assert count_positions(pairs, 6) == {
        "encoder": [3, 3, 1, 0, 0, 0],
        "decoder": [3, 2, 1, 1, 0, 0],
    }


def test_the_command_counts_into_the_checkpoint_folder(
    tmp_path, monkeypatch, make_model, tokenizer, pairs
):
    size = tokenizer.vocab_size
    model = make_model(source_vocab_size=size, target_vocab_size=size)
    save_checkpoint(tmp_path / "mine", model, tokenizer)
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    words = ["reach", "--pairs", str(file), "--model", str(tmp_path / "mine")]
    monkeypatch.setattr(sys, "argv", words)
    main()
    counts = load_position_counts(tmp_path / "mine" / "reach.csv")
    longest = max(len(tokenizer.encode_ids([source])[0]) for source, _ in pairs)
    assert len(counts["encoder"]) == 32
    assert counts["encoder"][:2] == [8, 8]
    assert counts["encoder"][longest] > 0
    assert counts["encoder"][longest + 1] == 0


def test_what_nobody_reaches_learns_nothing(make_model):
    model = make_model(positions="learned")
    ids = torch.tensor([[4, 5, 3, 0, 0]])
    logits = model(ids, torch.tensor([[2, 6, 7, 0, 0]]))
    logits[:, :3].square().sum().backward()
    for side in (model.encoder, model.decoder):
        gradient = side.embedding.positions.table.grad
        assert gradient[:3].any(dim=1).all()
        assert not gradient[3:].any()
