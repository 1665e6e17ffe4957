"""The table of quantities: complete, true, and the only place that a new quantity needs."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any, assert_type

import numpy as np
import pytest
from numpy.typing import ArrayLike

import armdyn
from armdyn import codegen
from armdyn.codegen.export_files import texts
from armdyn.codegen.reference_vectors import vectors
from armdyn.dynamics import graphs
from armdyn.dynamics.quantities import QUANTITIES, Definition, Out, row
from armdyn.errors import UnknownName
from armdyn.mechanics import newton_euler
from armdyn.robot.features import SUPPORT
from armdyn.typing import Floats


@pytest.fixture(scope="module")
def dyn() -> armdyn.Dynamics:
    return armdyn.compile(armdyn.random_robot(3, 3, rotors=True, friction=True))


@pytest.fixture(params=QUANTITIES)
def definition(request: pytest.FixtureRequest) -> Definition:
    return QUANTITIES[request.param]


def test_every_row_is_complete(definition: Definition) -> None:
    assert definition.what.endswith(".")
    assert definition.included.startswith("Included: ")
    expected = [*definition.inputs, *filter(None, [definition.optional]), *definition.results]
    assert list(definition.entries) == expected
    for name, entry in definition.entries.items():
        assert entry.words
        assert entry.shape.startswith("(...") or name == "frame"
        others = [each.entries[name] for each in QUANTITIES.values() if name in (*each.inputs, each.optional)]
        if name not in definition.results:
            assert set(others) == {entry}, "one argument, several descriptions"
    assert definition.references


@pytest.mark.parametrize("checked", [False, True])
def test_help_tells_signature_shapes_units_and_what_is_included(
    dyn: armdyn.Dynamics, definition: Definition, checked: bool
) -> None:
    made = armdyn.compile(dyn.robot, checked=True) if checked else dyn
    function = getattr(made, definition.name)
    words = pydoc.plain(pydoc.render_doc(function))
    optional = {"wrench": "wrench=None", "frame": "frame='tool'"}
    arguments = [*definition.inputs, *filter(None, [optional.get(definition.optional or "")])]
    assert f"{definition.name}({', '.join(arguments)}, *, out=None, threads=None)" in words
    assert " ".join(definition.doc.split()) in " ".join(words.split())
    assert "builtins" not in words
    assert inspect.signature(function) == definition.signature
    assert inspect.getdoc(function) == inspect.getdoc(getattr(armdyn.Dynamics, definition.name)) == definition.doc
    assert function.__name__ == definition.name


@pytest.mark.parametrize("batch", [(), (4,)])
def test_shapes_are_as_described(dyn: armdyn.Dynamics, definition: Definition, batch: tuple[int, ...]) -> None:
    sizes = {"n": dyn.n, "all": dyn.robot.opened.n, "p": len(dyn.parameters), "e": 11 * dyn.n}

    def described(name: str) -> tuple[int, ...]:
        core = definition.entries[name].shape.strip("()").split(", ")[1:]
        return tuple(sizes.get(size) or int(size) for size in core)

    rng = np.random.default_rng(0)
    results = getattr(dyn, definition.name)(*(rng.uniform(-1, 1, (*batch, *described(x))) for x in definition.inputs))
    for name, result in zip(definition.results, results if isinstance(results, tuple) else [results], strict=True):
        assert np.shape(result) == (*batch, *described(name)), name
    assert list(dyn.graph(definition.name).outputs) == list(definition.results)


def test_results_are_typed(dyn: armdyn.Dynamics) -> None:
    """What a type checker knows; it is run over the tests."""
    q, qd, qdd = np.zeros((3, 3))
    assert_type(dyn.inverse_dynamics(q, qd, qdd), Floats)
    assert_type(dyn.inverse_dynamics([0, 0, 0], qd, qdd, wrench={"tool": np.zeros(6)}), Floats)
    assert_type(dyn.pose(q, "tool", out=np.empty((4, 4))), Floats)
    assert_type(dyn.inverse_dynamics_derivatives(q, qd, qdd, threads=2), tuple[Floats, Floats])
    with pytest.raises(UnknownName, match="threads"):
        dyn.gravity(q, thread=2)  # type: ignore[call-arg]


def test_a_new_quantity_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row appears in the facade, in help, in every exported language, and in the reference vectors."""

    def formula(robot: Any, q: Any, qd: Any) -> list[Any]:
        return [a * b for a, b in zip(newton_euler.gravity(robot, q), qd, strict=True)]

    monkeypatch.setitem(SUPPORT, "dynamics.gravity_power", frozenset())  # the declaration goes with the test

    class More:
        @row(
            "P",
            graphs.on_torques(formula),
            lambda robot, q, qd: newton_euler.gravity(robot, q) * qd,
            closed=False,
            elastic=False,
        )
        def gravity_power(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:  # type: ignore[empty-body]
            """Power of each actuator against gravity.

            Included: weights of all links.

            q: (..., n) joint positions, rad (revolute) or m (prismatic)
            qd: (..., n) joint velocities, rad/s or m/s
            Returns P: (..., n) W, given by the actuators
            """

    made_row = vars(More)["gravity_power"]
    monkeypatch.setitem(QUANTITIES, "gravity_power", made_row)
    monkeypatch.setattr(armdyn.Dynamics, "gravity_power", made_row, raising=False)
    robot = armdyn.load("scara5")
    made: Any = armdyn.compile(robot)
    q, qd = np.random.default_rng(0).uniform(-1, 1, (2, robot.n))
    np.testing.assert_allclose(made.gravity_power(q, qd), made.gravity(q) * qd, rtol=1e-12, atol=1e-12)
    assert "Returns P: (..., n) W, given by the actuators" in pydoc.render_doc(made.gravity_power)
    assert "gravity_power" in dir(made) and "gravity_power(q, qd)" in str(made)
    model = codegen.model(robot, ["gravity_power"])
    for language in ("c", "cpp", "python"):
        written = "\n".join(texts(model, language).values())
        assert "Power of each actuator against gravity." in written
        assert "W, given by the actuators" in written
    expected = vectors(model, model.functions[0])
    found = made.gravity_power(expected.inputs["q"], expected.inputs["qd"])
    assert (np.abs(found - expected.outputs["P"]).max(axis=1) <= 1e-12 * expected.scale).all()
