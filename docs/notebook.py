# %% [markdown]
# # Headlight in a notebook
#
# Every picture is the one that the app draws; the last expression of a cell shows itself. Run it
# from the project's folder, or anywhere after `pip install .` in it.

# %%
import torch

from headlight import (
    AttentionEdit,
    Site,
    attention_heatmap,
    attention_lines,
    attention_text,
    compared_maps,
    head_grid,
    load_model,
)

translator = load_model("en-fr")
sentence = "The red car is faster than the blue car."
translation = translator.translate(sentence)
trace = translator.trace(sentence, translation)
translation.text

# %% [markdown]
# All heads of the cross-attention, layers down and heads across. Rows are what the decoder has
# read, columns what the encoder has.

# %%
site = Site("cross", 1)  # layers count from 0
queries = [token.text for token in trace.query_tokens(site)]
keys = [token.text for token in trace.key_tokens(site)]
grid = head_grid(trace.weights("cross"), queries, keys)
grid

# %% [markdown]
# One head in large, as a heatmap and as lines.

# %%
weights = trace.attention[site].weights[0, 4]  # head 5 of layer 2: (queries, keys)
heatmap = attention_heatmap(weights, queries, keys)
heatmap

# %%
lines = attention_lines(weights, queries, keys)
lines

# %% [markdown]
# The encoder's first head in running text, shaded by where “car” looks. Point at others, or let it
# show what looks at them.

# %%
words = [token.text for token in trace.source_tokens]
text = attention_text(trace.weights("encoder")[0, 0], words, lit=("query", 2))
text

# %% [markdown]
# The same head when all heads but the fifth are removed from the layer before, beside what it was:
# both runs read the same target, so the maps can be subtracted.

# %%
gate = torch.zeros(8)
gate[4] = 1  # head 5 of layer 1 stays
changed = translator.trace(
    sentence, translation, edits={Site("cross", 0): AttentionEdit(gate=gate)}
)
after = changed.attention[site].weights[0, 4]
comparison = compared_maps(weights, after, (queries, keys), (queries, keys))
comparison

# %% [markdown]
# Decoding, one token at a time. Press Play. (These names may change with any version.)

# %%
from headlight.model.decoding.steps import stack_rows
from headlight.viz import Bar, decoding_player

decoding = translator.write(sentence)
steps = list(decoding)
player = decoding_player(
    stack_rows([step.weights for step in steps], "decoder")[1].mean(0).numpy(),
    stack_rows([step.weights for step in steps], "cross")[1].mean(0).numpy(),
    stack_rows([step.visible for step in steps], "decoder")[1].float().amax(0).numpy() > 0,
    [step.read[-1].text for step in steps],
    keys,
    texts=[*(step.text for step in steps), translation.text],
    bars=[
        [
            Bar(one.token.text, one.probability, chosen=one.token.id == step.token.id)
            for one in step.top(5)
        ]
        for step in steps
    ],
)
player

# %% [markdown]
# A film of your own training: the attention of a model that learns to repeat the letter before.

# %%
from torch import nn
from torch.nn.functional import cross_entropy

from headlight import AttentionFilm


class Repeater(nn.Module):
    """Reads letters, and predicts for each the letter before it."""

    def __init__(self, letters: int = 8, longest: int = 12, width: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(letters, width)
        self.positions = nn.Embedding(longest, width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.output = nn.Linear(width, letters)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:  # (B, T)
        states = self.embedding(ids) + self.positions.weight[: ids.size(1)]  # (B, T, width)
        later = torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).triu(1)
        return self.output(self.attention(states, states, states, attn_mask=later)[0])


torch.manual_seed(0)
model = Repeater()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
film = AttentionFilm(model, torch.randint(8, (1, 12)))
film.add(0)
for step in range(1, 201):
    letters = torch.randint(8, (32, 12))
    loss = cross_entropy(model(letters)[:, 1:].flatten(0, 1), letters[:, :-1].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        film.add(step)
film
