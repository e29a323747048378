"""The differences between our numbers and those of transformers, measured on a text."""

from pathlib import Path
from typing import NamedTuple

import torch

from model.library.bert import Bert
from model.library.files import read_config
from model.trace import Trace


class Parity(NamedTuple):
    """The largest absolute differences from the transformers library, on a text."""

    outputs: float  # of the logits, or of the last hidden states if there is no head
    weights: float  # of the weights of every head in every layer


@torch.inference_mode()
def measure_parity(model: Bert, trace: Trace, folder: Path) -> Parity:
    """Compare a trace without edits with transformers' own BertModel, loaded from a folder."""
    from transformers import BertModel

    theirs = BertModel.from_pretrained(
        folder,
        config=read_config(str(folder)),
        add_pooling_layer=False,
        attn_implementation="eager",
        dtype=torch.float32,
        use_safetensors=True,
        local_files_only=True,
    )
    ids, segments = model.inputs(trace.source_tokens)
    outputs = theirs.to(model.device).eval()(
        ids,
        attention_mask=ids != model.config.pad_id,
        token_type_ids=segments,
        output_attentions=True,
    )
    their_weights = torch.cat(outputs.attentions)  # (layers, H, S, S)
    return Parity(
        outputs=(trace.outputs["encoder"] - outputs.last_hidden_state).abs().max().item(),
        weights=(trace.weights("encoder") - their_weights).abs().max().item(),
    )
