"""Loading by folder and by name: what goes well, and a sentence for each way it does not."""

import hashlib
import json
import pickle
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file, save_file

from headlight.model import memory
from headlight.model.library.files import read_config
from headlight.model.library.hub import LoadingError, fetch, progress_bar
from headlight.model.library.loading import fetch_model, load_bert, load_model
from headlight.model.library.transformers_loading import load_transformers_reader

LOADERS = pytest.mark.parametrize("load", [load_bert, load_transformers_reader])
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(make_bert_folder):
    return make_bert_folder()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of downloads."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def hub(cache, monkeypatch):
    """A small hub of our own: what it serves, by name, and the paths it was asked for."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            hub.asked.append(self.path)
            kind, name, *rest = self.path.split("?")[0].removeprefix("/api").split("/")[1:]
            if kind == "models":
                files = hub.models.get(name)
                if files is None:
                    return self.answer(404, "RepoNotFound")
                if rest[:1] == ["tree"]:
                    tree = [
                        {"type": "file", "path": path.name, "size": path.stat().st_size,
                         "oid": digest(path)}
                        for path in sorted(files.iterdir())
                    ]  # fmt: skip
                    return self.answer(body=json.dumps(tree).encode())
                about = {"id": name, "sha": COMMIT, "siblings": [], "tags": []}
                return self.answer(body=json.dumps(about).encode())
            if kind in hub.gated:
                return self.answer(403, "GatedRepo")
            path = hub.models[kind] / rest[-1]
            return self.answer(body=path.read_bytes(), etag=digest(path))

        do_HEAD = do_GET

        def answer(self, status=200, error=None, body=b"{}", etag=None):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "application/json")
            self.send_header("X-Repo-Commit", COMMIT)
            if error:
                self.send_header("X-Error-Code", error)
            if etag:
                self.send_header("ETag", f'"{etag}"')
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    def digest(path):
        return hashlib.sha1(path.read_bytes()).hexdigest()

    hub = SimpleNamespace(models={}, gated=set(), asked=[])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    template = endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    yield hub
    server.shutdown()
    server.server_close()


def test_a_name_is_downloaded_once_and_told_as_bytes(hub, folder, monkeypatch):
    hub.models["tiny-bert"] = folder
    (folder / "pytorch_model.bin").write_bytes(b"no")
    told = []
    reader = load_bert("tiny-bert", progress=lambda done, total: told.append((done, total)))
    assert not any("pytorch_model.bin" in path for path in hub.asked)
    size = (folder / "model.safetensors").stat().st_size
    assert max(done for done, _ in told) >= size
    assert all(0 < done <= total for done, total in told)
    assert told[-1][0] == told[-1][1]
    ids = torch.tensor([[2, 5, 7, 3]])
    with torch.no_grad():
        states = reader.model(ids, torch.zeros_like(ids))
        assert torch.equal(states, load_bert(folder).model(ids, torch.zeros_like(ids)))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    asked = len(hub.asked)
    load_bert("tiny-bert")
    assert len(hub.asked) == asked


def test_the_config_is_checked_before_the_weights_are_fetched(hub, folder):
    entries = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(entries | {"model_type": "homemade"}))
    hub.models["tiny-bert"] = folder
    with pytest.raises(LoadingError, match=r"config\.json of tiny-bert, of the type 'homemade'"):
        fetch_model("tiny-bert")
    assert not any("safetensors" in path for path in hub.asked)


def test_what_does_not_fit_into_memory_is_not_downloaded_to_its_end(hub, folder, monkeypatch):
    hub.models["tiny-bert"] = folder
    monkeypatch.setattr(memory, "free_memory", lambda device: 1_000)
    with pytest.raises(LoadingError, match=r"tiny-bert needs about .* GB of memory"):
        fetch_model("tiny-bert")
    monkeypatch.setattr(memory, "free_memory", lambda device: 10**9)
    told = []
    assert (fetch_model("tiny-bert", lambda *sizes: told.append(sizes)) / "vocab.txt").is_file()
    assert told


@LOADERS
def test_an_unknown_name(load, hub):
    with pytest.raises(LoadingError, match="There is no model nobody-made-it on the Hugging Face"):
        load("nobody-made-it")


@LOADERS
def test_a_gated_model(load, hub, folder):
    hub.models["tiny-gated"] = folder
    hub.gated.add("tiny-gated")
    with pytest.raises(LoadingError, match=r"tiny-gated is gated.*https://huggingface\.co/tiny-ga"):
        load("tiny-gated")


@LOADERS
def test_without_network(load, cache, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(LoadingError, match=r"cannot be reached\. Check the network and try again"):
        load("google-bert/bert-base-uncased")


@LOADERS
def test_a_hub_that_does_not_answer(load, cache, monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(LoadingError, match=r"cannot be reached\. Check the network and try again"):
        load("google-bert/bert-base-uncased")


def test_a_download_cut_short_by_the_network(hub, folder, monkeypatch):
    hub.models["tiny-bert"] = folder
    read_config("tiny-bert")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(LoadingError, match=r"cannot be reached\. Check the network and try again"):
        load_bert("tiny-bert")


def test_a_full_disk(cache, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    with pytest.raises(LoadingError, match=r"could not be downloaded: .*No space left on device\."):
        fetch("some-model")


@LOADERS
@pytest.mark.parametrize("name", ["/no/such/folder", "a b", "../x", "a/b/c", "", "<b>", "x" * 200])
def test_neither_a_folder_nor_a_name(load, name):
    with pytest.raises(LoadingError, match=r"neither a folder nor a name|has no config\.json"):
        load(name)


@LOADERS
def test_a_folder_that_is_no_model(load, tmp_path):
    with pytest.raises(LoadingError, match=r"has no config\.json, so it is not a model of the tra"):
        load(tmp_path)


@LOADERS
@pytest.mark.parametrize("content", ["", "[]", "{}", "{", "\x00", '"model_type"'])
def test_a_config_of_something_else(load, content, tmp_path):
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(LoadingError, match="names no model_type, so it is not one of the transfor"):
        load(tmp_path)


@LOADERS
def test_code_that_a_model_brings_is_not_run(load, folder, tmp_path):
    entries = {
        "model_type": "homemade",
        "auto_map": {"AutoConfig": "code.Config", "AutoModel": "code.Model"},
    }
    (folder / "config.json").write_text(json.dumps(entries))
    (folder / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(LoadingError, match=r"of the type 'homemade'.*code of their own are not lo"):
        load(folder)
    assert not (tmp_path / "ran").exists()


@LOADERS
def test_a_config_with_a_wrong_value(load, folder):
    entries = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(entries | {"hidden_size": "wide"}))
    with pytest.raises(LoadingError, match=r"cannot read the config\.json of .*hidden_size"):
        load(folder)


def test_numbers_of_a_config_that_do_not_fit(folder):
    entries = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(entries | {"num_attention_heads": 7}))
    with pytest.raises(LoadingError, match="do not fit together: d_model 24 is not a multiple"):
        load_model(folder)


@LOADERS
def test_weights_that_are_not_safetensors(load, folder, tmp_path):
    class Bomb:
        def __reduce__(self):
            return Path.touch, (tmp_path / "exploded",)

    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(LoadingError, match=r"has no model\.safetensors. Other files of weights ca"):
        load(folder)
    assert not (tmp_path / "exploded").exists()


@LOADERS
def test_a_file_of_weights_cut_short(load, folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(
        LoadingError, match=r"is not a safetensors file|cannot load .*not fully covered"
    ):
        load(folder)


@LOADERS
def test_missing_weights(load, folder):
    path = folder / "model.safetensors"
    weights = load_file(path)
    del weights["bert.encoder.layer.1.attention.self.key.weight"]
    save_file(weights, path, {"format": "pt"})
    with pytest.raises(LoadingError, match=r"lack 1 tensors, such as .*1\.attention.*key\.weight"):
        load(folder)


@LOADERS
def test_misshapen_weights(load, folder):
    path = folder / "model.safetensors"
    weights = load_file(path)
    name = "bert.encoder.layer.1.output.dense.weight"
    weights[name] = weights[name][:, :7].contiguous()
    save_file(weights, path, {"format": "pt"})
    with pytest.raises(LoadingError, match="Download or save it again, or choose another model"):
        load(folder)


def shard(folder):
    """Split the weights of a folder into two files with an index."""
    weights = load_file(folder / "model.safetensors")
    names = sorted(weights)
    places = {}
    for part, chosen in enumerate((names[:9], names[9:]), start=1):
        file = f"model-{part:05}-of-00002.safetensors"
        save_file({name: weights[name] for name in chosen}, folder / file, {"format": "pt"})
        places |= dict.fromkeys(chosen, file)
    index = {"metadata": {}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "model.safetensors").unlink()


def test_weights_in_several_files(folder, make_bert_folder):
    whole = make_bert_folder()
    shard(folder)
    ours, expected = (load_bert(each).model.state_dict() for each in (folder, whole))
    assert all(torch.equal(ours[name], tensor) for name, tensor in expected.items())
    assert load_bert(folder).parity("the cat sat").outputs < 1e-5
    assert load_transformers_reader(folder).shape.kinds.keys() == {"encoder"}


@LOADERS
def test_a_missing_part_of_the_weights_is_named(load, folder):
    shard(folder)
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(LoadingError, match=r"lacks model-00002-of-00002\.safetensors, which its"):
        load(folder)


@LOADERS
@pytest.mark.parametrize(
    "content", ["{", "{}", "[]", '{"weight_map": 3}', '{"weight_map": {"a": 1}}']
)
def test_an_index_that_says_nothing(load, content, folder):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(content)
    with pytest.raises(LoadingError, match="does not say which safetensors files hold the weights"):
        load(folder)


@LOADERS
def test_no_tokenizer(load, folder):
    for name in ("tokenizer.json", "vocab.txt"):
        (folder / name).unlink()
    with pytest.raises(LoadingError, match="has no tokenizer"):
        load(folder)


@LOADERS
def test_a_tokenizer_that_cannot_be_read(load, folder):
    (folder / "tokenizer.json").write_text("{}")
    (folder / "vocab.txt").unlink()
    with pytest.raises(LoadingError, match=r"The tokenizer in .* cannot be read"):
        load(folder)


def test_a_tokenizer_of_another_model(folder, make_bert_folder):
    small = make_bert_folder(vocab_size=12)
    shutil.copy(folder / "tokenizer.json", small / "tokenizer.json")
    with pytest.raises(LoadingError, match="is not that of a BERT with 12 tokens"):
        load_bert(small)


def test_a_tokenizer_that_pads_otherwise(make_bert_folder):
    with pytest.raises(LoadingError, match=r"of which number 7 is \[PAD\]"):
        load_bert(make_bert_folder(pad_token_id=7))


def test_a_progress_bar_draws_nothing_and_counts_only_bytes(capsys):
    told = []
    with progress_bar(lambda *numbers: told.append(numbers))(total=10, unit="B") as bar:
        bar.update(4)
        bar.update(6)
    with progress_bar(lambda *numbers: told.append(numbers))(total=3) as bar:
        bar.update(1)
    assert told == [(4, 10), (10, 10)]
    assert capsys.readouterr() == ("", "")
