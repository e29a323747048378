"""Train a Transformer on sentence pairs: python -m headlight.model.train --pairs FILE."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tqdm import tqdm

from headlight.model.checkpoint import (
    TOKENIZER,
    copy_weights,
    load_checkpoint,
    save_checkpoint,
    save_tokenizer,
)
from headlight.model.evaluate import score
from headlight.model.memory_layout import best_device
from headlight.model.tokenizer import Tokenizer
from headlight.model.training import together
from headlight.model.training.arguments import check, make_parser, settings_of, shape_of
from headlight.model.training.data import (
    Batch,
    EncodedPair,
    Pairs,
    bucketed_batches,
    bucketed_pairs,
    encode_pairs,
    read_pairs,
)
from headlight.model.training.loop import (
    DIVERGED,
    Settings,
    learning_rate,
    make_optimizer,
    train,
    validation_loss,
)
from headlight.model.training.resuming import (
    STATE,
    Log,
    Progress,
    Saved,
    Value,
    chosen,
    fingerprint,
    open_folder,
    put_back,
    refuse_other_files,
    refuse_other_options,
    save_training,
)
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.transformer import Transformer


@dataclass
class Training:
    """A training with everything that it needs to resume, and its folder.

    In a training with several processes, only the first one writes.
    """

    folder: Path
    settings: Settings
    begun_with: dict[str, Value]
    tokenizer: Tokenizer
    model: Transformer
    optimizer: torch.optim.Optimizer
    place: Progress
    pairs: list[EncodedPair]
    valid_pairs: Pairs
    valid_batches: list[Batch]
    log: Log

    def save_snapshot(self) -> None:
        """Save the weights of this step."""
        if not together.is_first():
            return
        folder = self.folder / "snapshots" / f"step-{self.place.step:06d}"
        save_checkpoint(folder, self.model, self.tokenizer)

    def save(self) -> None:
        """Write the checkpoint from which a training resumes; see `refuse_ruined`."""
        if not together.is_first():
            return
        self.refuse_ruined()
        parts = (self.model, self.optimizer, self.place, self.settings, self.begun_with)
        save_training(self.folder / STATE, *parts)

    def score_and_save(self, bar: tqdm) -> None:
        """Write the scores, the model and the checkpoint, and print the scores."""
        if not together.is_first():
            return
        self.refuse_ruined()
        progress, valid_loss = self.place, validation_loss(self.model, self.valid_batches)
        scores = score(self.model, self.tokenizer, self.valid_pairs)
        self.log.write(
            step=progress.step,
            epoch=progress.epoch,
            train_loss=round(progress.loss, 4),
            valid_loss=round(valid_loss, 4),
            bleu=round(scores.bleu, 2),
            chrf=round(scores.chrf, 2),
            learning_rate=learning_rate(progress.step, self.model.config.d_model, self.settings),
        )
        save_checkpoint(self.folder, self.model, self.tokenizer)
        self.save()
        bar.write(f"step {progress.step}: valid loss {valid_loss:.3f}, BLEU {scores.bleu:.1f}")

    def refuse_ruined(self) -> None:
        """Raise FloatingPointError unless the weights, and a loss of theirs, are finite.

        Otherwise they would replace finite ones.
        """
        weights = all(weight.isfinite().all() for weight in self.model.parameters())
        if not (weights and math.isfinite(validation_loss(self.model, self.valid_batches[:1]))):
            raise FloatingPointError(DIVERGED.format(step=self.place.step))


def run(arguments: argparse.Namespace) -> None:
    """Train as the command line says; write checkpoints, snapshots and the log to a folder.

    Raises ValueError if the folder and `--resume` do not match, and FloatingPointError if the
    training diverges; earlier files stay.
    """
    training = begin(arguments)
    progress, settings = training.place, training.settings
    if progress.step == settings.steps:
        message = (
            f"{training.folder} has done its {progress.step} steps: to go on, give more --steps."
        )
        if together.is_first():
            print(message)
        return
    if progress.step == 0 and 0 in arguments.snapshots:
        training.save_snapshot()
    length = {"total": settings.steps, "initial": progress.step}
    hidden = not together.is_first()
    with tqdm(**length, unit="step", smoothing=0.02, disable=hidden) as bar:
        while progress.step < settings.steps:
            shuffle = settings.seed * 1_000 + progress.epoch
            batches = bucketed_pairs(training.pairs, settings.batch_tokens, shuffle)
            train_epoch(training, batches, arguments, bar)
            if progress.batch >= len(batches):
                progress.epoch, progress.batch = progress.epoch + 1, 0
            training.score_and_save(bar)


def train_epoch(
    training: Training,
    batches: Sequence[Sequence[EncodedPair]],
    arguments: argparse.Namespace,
    bar: tqdm,
) -> None:
    """Train on the rest of an epoch's batches, and save as often as the command line says."""
    progress, settings = training.place, training.settings
    left = map(together.share, batches[progress.batch :])
    for step in train(training.model, training.optimizer, left, settings, progress.step + 1):
        progress.step, progress.batch = step.number, progress.batch + 1
        progress.loss = 0.99 * (progress.loss or step.loss) + 0.01 * step.loss
        bar.update()
        bar.set_postfix(loss=f"{progress.loss:.3f}", epoch=progress.epoch, refresh=False)
        if step.number in arguments.snapshots:
            training.save_snapshot()
        # An epoch's last step is scored by the caller.
        ends = progress.batch == len(batches) or step.number == settings.steps
        if arguments.score_every and step.number % arguments.score_every == 0 and not ends:
            training.score_and_save(bar)
        # The last checkpoint is saved with its scores: a training would not resume to add them.
        elif step.number % arguments.checkpoint_every == 0 and step.number < settings.steps:
            training.save()


def begin(arguments: argparse.Namespace) -> Training:
    """Return a new training, or the one in the folder if its options are the same."""
    folder, settings = arguments.output, settings_of(arguments)
    if arguments.begin_with:
        arguments.tokenizer = arguments.begin_with / TOKENIZER
    saved = open_folder(folder, arguments.resume)
    torch.manual_seed(settings.seed)
    pairs, valid_pairs = read_pairs(arguments.pairs), read_pairs(arguments.valid)
    tokenizer = shared_tokenizer(arguments, pairs)
    begun_with = {
        "--pairs": fingerprint(pairs),
        "--valid": fingerprint(valid_pairs),
        TOKENIZER: fingerprint([(tokenizer.backend.to_str(), "")]),
        **({} if arguments.tokenizer else {"vocabulary": arguments.vocabulary}),
    }
    config = TransformerConfig(tokenizer.vocab_size, tokenizer.vocab_size, **shape_of(arguments))
    if saved is not None:
        refuse_another(arguments, saved, {**chosen(config, settings), **begun_with})
    model = Transformer(config).to(best_device())
    optimizer = make_optimizer(model, settings.optimizer, settings.precision)
    if saved is None and arguments.begin_with:
        begun, _ = load_checkpoint(arguments.begin_with)
        copy_weights(model, dict(begun.named_parameters()))
    if saved is not None:
        put_back(folder / STATE, saved, model, optimizer)
    progress = saved.place if saved else Progress()
    valid = encode_pairs(valid_pairs, tokenizer, config.max_positions)
    return Training(
        folder,
        settings,
        saved.begun_with if saved else begun_with,
        tokenizer,
        model,
        optimizer,
        progress,
        encode_pairs(pairs, tokenizer, config.max_positions),
        valid_pairs,
        list(bucketed_batches(valid, settings.batch_tokens)),
        Log(folder / "log.csv", goes_on_at=progress.step),
    )


def shared_tokenizer(arguments: argparse.Namespace, pairs: Pairs) -> Tokenizer:
    """Return the tokenizer of a training, which the first process makes and saves for all."""
    path = arguments.output / TOKENIZER
    if not together.is_first():
        together.wait()
        return Tokenizer.from_file(arguments.tokenizer or path)
    tokenizer = make_tokenizer(arguments, pairs)
    if not arguments.resume:
        save_tokenizer(path, tokenizer)
    together.wait()
    return tokenizer


def make_tokenizer(arguments: argparse.Namespace, pairs: Pairs) -> Tokenizer:
    """Return the tokenizer of a resumed training, the one that was given, or a new one."""
    if arguments.tokenizer:
        return Tokenizer.from_file(arguments.tokenizer)
    if arguments.resume:
        return Tokenizer.from_file(arguments.output / TOKENIZER)
    texts = (text for pair in pairs for text in pair)
    return Tokenizer.train_byte_pairs(texts, arguments.vocabulary)


def refuse_another(arguments: argparse.Namespace, saved: Saved, now: dict) -> None:
    """Raise ValueError if a training would resume with other options or files, and name them.

    `now` holds the options, and the fingerprints of the files.
    """
    folder = arguments.output
    if saved.place.step > arguments.steps:
        raise ValueError(
            f"{folder} has done {saved.place.step} steps already: to go on, --steps has to be more."
        )
    tokenizer = arguments.tokenizer or folder / TOKENIZER
    files = {"--pairs": arguments.pairs, "--valid": arguments.valid, TOKENIZER: tokenizer}
    refuse_other_files(folder, saved, {name: (now[name], path) for name, path in files.items()})
    options = {name: value for name, value in now.items() if name not in files}
    refuse_other_options(folder, saved, options)


def sentence(error: Exception, folder: Path) -> str:
    """Return the sentence that a person reads about an error."""
    if isinstance(error, FloatingPointError):
        return f"{error} What was saved in {folder} before stays as it was."
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}."
    if is_about_memory(error):
        return "There is too little memory: choose a smaller --batch-tokens, or a smaller model."
    return str(error)


def is_about_memory(error: Exception) -> bool:
    """Return whether memory ran out; torch only says so in the message."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "memory" in str(error).lower()
    )


def main() -> None:
    """Read the command line and train."""
    parser = make_parser()
    arguments = parser.parse_args()
    try:
        check(arguments)
        with together.joined():
            run(arguments)
    except (FloatingPointError, MemoryError, OSError, RuntimeError, ValueError) as error:
        if isinstance(error, RuntimeError) and not is_about_memory(error):
            raise
        message = f"{parser.prog}: {sentence(error, arguments.output)}"
        raise SystemExit(message if together.is_first() else 1) from error


if __name__ == "__main__":
    main()
