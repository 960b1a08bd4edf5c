"""All names of `import hyphos` have type hints and docstrings."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hyphos
import pytest
from hyphos import _hyphos

STUB = ast.parse(Path(hyphos.__file__).with_name("_hyphos.pyi").read_text())
STUBBED = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
NATIVE = [n for n in hyphos.__all__ if getattr(_hyphos, n, None) is getattr(hyphos, n)]
PURE = [name for name in hyphos.__all__ if name not in NATIVE]


def functions(thing: Any) -> Iterator[Any]:
    """The public functions: the thing itself, or the functions that its class defines."""
    if not inspect.isclass(thing):
        yield thing
        return
    for name, member in vars(thing).items():
        if name.startswith("_") and name != "__init__":
            continue
        function = member.fget if isinstance(member, property) else member
        function = getattr(function, "__func__", function)
        if inspect.isfunction(function):
            yield function


@pytest.mark.parametrize("name", PURE)
def test_every_argument_and_result_has_a_hint(name: str) -> None:
    thing = getattr(hyphos, name)
    assert (thing.__doc__ or "").strip(), f"{name} does not say what it is"
    for function in functions(thing):
        signature = inspect.signature(function)
        for parameter in signature.parameters.values():
            if parameter.name not in {"self", "cls"}:
                hinted = parameter.annotation is not inspect.Parameter.empty
                assert hinted, f"{function.__qualname__}: {parameter.name}"
        assert signature.return_annotation is not inspect.Signature.empty, function.__qualname__


@pytest.mark.parametrize("name", NATIVE)
def test_native_names_are_in_the_stub(name: str) -> None:
    stub = STUBBED[name]
    named = {getattr(node, "name", "") for node in stub.body}
    named |= {
        node.target.id
        for node in stub.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    public = {member for member in vars(getattr(_hyphos, name)) if not member.startswith("_")}
    assert public <= named
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            arguments = [*node.args.args, *node.args.kwonlyargs]
            assert all(one.annotation or one.arg in {"self", "cls"} for one in arguments), node.name
            assert node.returns is not None, node.name
