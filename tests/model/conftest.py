"""Our modules as torch's own, with the same parameters, and trainings from the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from headlight.model import train
from headlight.model.transformer.attention import MultiHeadAttention
from headlight.model.transformer.layers import DecoderLayer, EncoderLayer
from headlight.model.transformer.transformer import Decoder, Encoder

ROOT = Path(__file__).parents[2]


def attention_twin(ours):
    theirs = nn.MultiheadAttention(ours.query.in_features, ours.heads, batch_first=True)
    parts = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())
    return theirs


def layer_options(attention, ours):
    return {
        "d_model": attention.query.in_features,
        "nhead": attention.heads,
        "dim_feedforward": ours.feed_forward.inner.out_features,
        "activation": ours.feed_forward.activation,
        "norm_first": ours.feed_forward_residual.norm_first,
        "batch_first": True,
    }


def encoder_layer_twin(ours):
    theirs = nn.TransformerEncoderLayer(**layer_options(ours.attention, ours))
    theirs.self_attn = attention_twin(ours.attention)
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.output.state_dict())
    theirs.norm1.load_state_dict(ours.attention_residual.norm.state_dict())
    theirs.norm2.load_state_dict(ours.feed_forward_residual.norm.state_dict())
    return theirs


def decoder_layer_twin(ours):
    theirs = nn.TransformerDecoderLayer(**layer_options(ours.self_attention, ours))
    theirs.self_attn = attention_twin(ours.self_attention)
    theirs.multihead_attn = attention_twin(ours.cross_attention)
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.output.state_dict())
    theirs.norm1.load_state_dict(ours.self_residual.norm.state_dict())
    theirs.norm2.load_state_dict(ours.cross_residual.norm.state_dict())
    theirs.norm3.load_state_dict(ours.feed_forward_residual.norm.state_dict())
    return theirs


def stack_twin(ours):
    kind = nn.TransformerEncoder if isinstance(ours, Encoder) else nn.TransformerDecoder
    layers = [build_twin(layer) for layer in ours.layers]
    options = {"enable_nested_tensor": False} if isinstance(ours, Encoder) else {}
    theirs = kind(layers[0], len(layers), norm=ours.norm, **options)
    theirs.layers = nn.ModuleList(layers)
    return theirs


TWINS = {
    MultiHeadAttention: attention_twin,
    EncoderLayer: encoder_layer_twin,
    DecoderLayer: decoder_layer_twin,
    Encoder: stack_twin,
    Decoder: stack_twin,
}


def build_twin(ours):
    with torch.no_grad():
        return TWINS[type(ours)](ours).eval()


@pytest.fixture(scope="session")
def torch_twin():
    """A function from one of our modules to torch's with the same parameters, in eval mode."""
    return build_twin


@pytest.fixture
def command(pairs, tmp_path, monkeypatch):
    """A function that trains a tiny model from the command line into a folder."""
    # Sums on a GPU do not repeat bit for bit.
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    lines = [f"{source}\t{target}\n" for source, target in pairs]
    (tmp_path / "pairs.tsv").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "valid.tsv").write_text("".join(lines[:2]), encoding="utf-8")

    def run(output, *flags, processes=1, **changes):
        options = {
            "pairs": tmp_path / "pairs.tsv",
            "valid": tmp_path / "valid.tsv",
            "output": tmp_path / output,
            "vocabulary": 600,
            "checkpoint_every": 4,
            "steps": 11,
            "warmup": 4,
            "cooldown": 4,
            "batch_tokens": 60,
            "d_model": 16,
            "heads": 2,
            "d_ff": 16,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "dropout": 0.2,
            **changes,
        }
        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        if processes > 1:
            torchrun = ["torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
            parts = [sys.executable, "-m", *torchrun, "-m", "headlight.model.train", *words, *flags]
            environment = os.environ | {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
            subprocess.run(parts, cwd=ROOT, env=environment, check=True, timeout=300)
            return tmp_path / output
        monkeypatch.setattr(sys, "argv", ["train", *words, *flags])
        # Commands start in their own process, where nothing else has drawn random numbers.
        torch.manual_seed(987)
        train.main()
        return tmp_path / output

    return run


@pytest.fixture
def killed_and_resumed(command, monkeypatch):
    """A function that trains, dies after the given step, and goes on."""

    step_of = train.train_step

    def run(step, **options):
        def train_step(ours, optimizers, batch, number, settings):
            if number > step:
                raise KeyboardInterrupt
            return step_of(ours, optimizers, batch, number, settings)

        with monkeypatch.context() as patch:
            patch.setattr("headlight.model.train.train_step", train_step)
            with pytest.raises(KeyboardInterrupt):
                command("killed", **options)
        return command("killed", "--resume", **options)

    return run
