"""A film of somebody's own training."""

import random

import numpy as np
import pytest
import torch
from PIL import Image, ImageSequence

from headlight.wings.any_module.film import AttentionFilm
from headlight.wings.any_module.watch import watch
from tests.model.library.shapes import Classifier, build, texts
from tests.viz.unpacking import unpack

IDS = torch.tensor([[3, 1, 2, 1], [5, 6, 7, 8]])


def train(model, steps, film=None):
    """The losses of a training with dropout, which draws at random."""
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.5), []
    model.train()
    for step in range(steps):
        if film is not None:
            film.add(step)
        numbers = torch.nn.functional.dropout(model(IDS), training=model.training)
        loss = numbers.square().mean() + random.random() + np.random.rand()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def seeded():
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    return Classifier()


def test_a_filmed_training_goes_on_as_if_it_was_not_filmed():
    expected = train(seeded(), 3)
    model = seeded()
    model.attention.train(False)
    film = AttentionFilm(model, IDS)
    assert train(model, 3, film) == expected
    assert model.training
    assert model.attention.training
    assert torch.is_grad_enabled()
    frozen = seeded()
    frozen.attention.eval()
    AttentionFilm(frozen, IDS).add(0)
    assert frozen.training
    assert not frozen.attention.training


def test_each_step_shows_the_weights_of_that_step():
    model, expected = seeded(), []
    film = AttentionFilm(model, IDS)
    for step in (0, 10, 20):
        with torch.no_grad(), watch(model.eval()) as seen:
            model(IDS)
        expected.append(seen[0][:1])
        film.add(step)
        train(model, 2)
    header, levels = unpack(film.picture, "<u2")
    assert header["steps"] == [0, 10, 20]
    assert header["queries"] == header["keys"] == ["3", "1", "2", "1"]
    shown = torch.tensor(levels.astype(np.float32)).reshape(3, 1, -1, 4, 4) / header["levels"]
    torch.testing.assert_close(shown, torch.stack(expected), atol=6e-4, rtol=0)
    with pytest.raises(ValueError, match="20 follows 20"):
        film.add(20)


def test_one_kind_of_several_is_filmed():
    model, inputs = build("nn.Transformer"), texts("nn.Transformer")
    with pytest.raises(ValueError, match="of the kinds self, masked, cross"):
        AttentionFilm(model, *inputs).add(0)
    film = AttentionFilm(model, *inputs, kind="cross")
    film.add(0)
    assert film.weights[0].shape[-2:] == (inputs[1].size(1), inputs[0].size(1))


def test_it_shows_itself_and_is_saved(tmp_path):
    film = AttentionFilm(seeded(), IDS, query_tokens=["<a>", "b", "c", "d"])
    assert "film.add(step)" in film._repr_html_()
    with pytest.raises(ValueError, match="no step yet"):
        film.save(tmp_path / "film.gif")
    for step in (0, 1, 2):
        film.add(step)
        train(film.module, 2)
    assert film._repr_html_().startswith("<iframe")
    film.save(tmp_path / "film.html", "The </script> of a training")
    page = (tmp_path / "film.html").read_text()
    assert "$film_buttons.add(" in page
    assert "The </script>" not in page
    film.save(tmp_path / "film.gif")
    assert len([*ImageSequence.Iterator(Image.open(tmp_path / "film.gif"))]) == 3
    with pytest.raises(ValueError, match="press WEBM"):
        film.save(tmp_path / "film.webm")
