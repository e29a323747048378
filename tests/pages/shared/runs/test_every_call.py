"""Pages call a model only by a `model_call`, which is kept and waits its turn."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[4]
# Files of calls, and what draws: in a wing, all that knows the app's pages.
CALLS = [
    *(ROOT / "pages/shared/runs").glob("*.py"),
    *(ROOT / "pages/parts").glob("*/calls.py"),
    *(ROOT / "wings").glob("*/*calls.py"),
]
FILES = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "wings").rglob("*.py")]
OUTSIDE = [
    path for path in {*FILES} - {*CALLS} if "headlight.pages" in path.read_text(encoding="utf-8")
]

# Methods of readers that run them.
METHODS = {
    "translate", "trace_ids", "masks", "generate", "predict",
    "parity", "decoder_stream",
}  # fmt: skip
# Functions of the package model that run a model they are given.
FUNCTIONS = {
    "attribute", "take_apart", "explain", "log_probability", "removals",
    "gradient_times_attention", "contributions", "head_removals", "lens", "norm_orders",
    "run_in_order", "separate_heads", "pre_activations", "word_similarity", "in_sentence",
    "permutation_differences", "shuffle_words", "scores_by_shift", "both_vectors",
    "translate_all", "role_scores", "estimated_removals",
    "estimated_closings", "cell_removals", "gaps",
}  # fmt: skip
PACKAGES = ("headlight.model", "headlight.pages.parts", "headlight.wings")
READERS = {"reader", "model", "translator"}  # what a reader is called
LIKE_OTHERS = {"write_together", "rerun", "trace"}  # and what others have too
NETWORKS = {"model", "network", "encoder", "decoder"}  # what a network is called
STEPS = {"encode", "decode", "forward", "head", "embed"}  # and what runs a part of it
MATHS = [
    path for where in ("model", "pages/parts", "wings") for path in (ROOT / where).rglob("*.py")
]
OF_A_NAME = ((STEPS, NETWORKS), (LIKE_OTHERS, READERS))


def model_calls(source, functions=FUNCTIONS):
    """The names by which a source calls a model, or imports what calls one."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGES):
            found |= {alias.name for alias in node.names} & functions
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            method, owner = node.func.attr, name_of(node.func.value)
            runs = any(method in methods and owner in owners for methods, owners in OF_A_NAME)
            if method in METHODS | NETWORKS or runs:
                found.add(method)
    return found


def name_of(node):
    """The last name of an expression, such as model of translator().model, or of what it calls."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def test_the_functions_are_those_of_the_package():
    sources = (path.read_text(encoding="utf-8") for path in MATHS)
    defined = {
        node.name
        for source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    }
    assert defined >= FUNCTIONS | METHODS - {"generate"}  # which is transformers' own


def test_the_calls_of_the_door_are_seen():
    seen = {name for path in CALLS for name in model_calls(path.read_text("utf-8"))}
    some = {"translate", "trace", "write_together", "masks", "parity", "explain", "head_removals"}
    assert some <= seen


def test_pages_call_models_by_the_door_alone():
    calls = {path: model_calls(path.read_text(encoding="utf-8")) for path in OUTSIDE}
    assert {path: names for path, names in calls.items() if names} == {}


def test_every_function_that_calls_a_model_is_one_of_the_door():
    expect_calls_of_the_door(CALLS, FUNCTIONS)


def expect_calls_of_the_door(paths, functions):
    """Each function of these files that calls a model is a call that is kept and waits."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in paths)
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inner = {part for node in nodes for part in ast.walk(node) if part is not node}
    for node in nodes:
        if node not in inner and model_calls(ast.unparse(node), functions):
            assert any("model_call" in ast.unparse(one) for one in node.decorator_list), node.name
