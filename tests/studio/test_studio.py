"""The studio: answers are those of the library, and the server answers this machine's own page alone."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.studio import Studio, serve
from armdyn.studio.answers import FRAMES, Answers


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    running = serve(armdyn.load("scara5"))
    yield running
    running.stop()


def asked(studio: Studio, method: str, path: str, body: str = "", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=60)
    connection.request(method, path, body, headers)
    reply = connection.getresponse()
    return reply.status, reply.read()


def answer(studio: Studio, question: str, **arguments: Any) -> dict[str, Any]:
    status, body = asked(studio, "POST", f"/api/{question}", json.dumps(arguments))
    assert status == 200, body
    found: dict[str, Any] = json.loads(body)
    return found


# What is answered ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pendulum", "scara5", "planar3r", "panda"])
def test_a_position_is_what_the_library_says(name: str) -> None:
    answers = Answers(armdyn.load(name))
    q = np.random.default_rng(1).uniform(-0.5, 0.5, answers.robot.n)
    found = answers.state(q.tolist())
    np.testing.assert_allclose(found["gravity"], answers.dyn.gravity(q), atol=1e-12)
    np.testing.assert_allclose(found["mass_matrix"], answers.dyn.mass_matrix(q), atol=1e-12)
    np.testing.assert_allclose(found["arm"]["tool"], answers.dyn.pose(q), atol=1e-12)
    assert len(found["arm"]["joints"]) == answers.robot.n
    json.dumps([found, answers.about()], allow_nan=False)


def test_ellipsoid_axes_are_vectors_of_the_world() -> None:
    answers = Answers(armdyn.load("panda"))
    q = np.array([0.1, -0.3, 0.2, -1.5, 0.1, 1.2, 0.3])
    axes = np.array(answers.state(q.tolist())["ellipsoids"]["velocity"]["axes"])
    J = answers.dyn.jacobian(q)[:3]
    np.testing.assert_allclose(axes.T @ axes, J @ J.T, atol=1e-9)  # sum of a a^T over half axes a is J J^T


def test_a_motion_has_the_torques_of_inverse_dynamics(studio: Studio) -> None:
    q1 = [0.1, 0.5, -0.4, 0.3, 0.05]
    film = answer(studio, "motion", q0=[0] * 5, q1=q1, profile="quintic", duration=1.5)
    course = armdyn.point_to_point([0] * 5, q1, profile="quintic", duration=1.5)
    t = np.array(film["t"])
    expected = armdyn.compile(armdyn.load("scara5")).inverse_dynamics(course(t), course(t, 1), course(t, 2))
    np.testing.assert_allclose(film["tau"], expected, atol=1e-9)
    np.testing.assert_allclose(sum(np.array(part) for part in film["parts"].values()), film["tau"], atol=1e-9)
    assert len(film["arms"]) == len(t)


def test_tracking_and_letting_go(studio: Studio) -> None:
    there = {"q0": [0, 0.2, 0.3, 0, 0], "q1": [0.05, 0.5, 0.1, 0.2, 0.1], "duration": 1.0}
    tracked = answer(studio, "simulation", **there)
    assert tracked["status"] == "finished" and len(tracked["t"]) == FRAMES + 1
    assert np.abs(tracked["error"]).max() < 1e-3
    loaded = answer(studio, "simulation", payload=2.0, **there)
    assert np.abs(loaded["error"]).max() > 10 * np.abs(tracked["error"]).max()
    dropped = answer(studio, "simulation", law="none", **there)
    assert np.abs(dropped["tau"]).max() == 0
    assert abs(dropped["q"][-1][0]) > 0.5, "a lift without its drive falls"


def test_equations_are_typeset(studio: Studio) -> None:
    assert "<math" in answer(studio, "equations")["html"]


# Who is answered ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/page.css", "/page.js", "/view.js"])
def test_the_page_is_there_and_needs_nothing_from_elsewhere(studio: Studio, path: str) -> None:
    status, body = asked(studio, "GET", path)
    assert status == 200
    assert b"http://" not in body and b"https://" not in body


@pytest.mark.parametrize("path", ["/server.py", "/../server.py", "/%2e%2e/server.py", "/page/page.html"])
def test_nothing_else_is_given_out(studio: Studio, path: str) -> None:
    assert asked(studio, "GET", path)[0] == 404


def test_pages_from_elsewhere_are_not_answered(studio: Studio) -> None:
    assert asked(studio, "POST", "/api/about", "{}", Host="evil.example")[0] == 403
    assert asked(studio, "POST", "/api/about", "{}", Origin="http://evil.example")[0] == 403
    assert asked(studio, "POST", "/api/about", "{}", Origin=studio.address.rstrip("/"))[0] == 200


@pytest.mark.parametrize(
    ("question", "body"),
    [
        ("state", "{"),
        ("state", "[1]"),
        ("state", '{"q": [1, 2]}'),
        ("state", '{"q": "x"}'),
        ("state", '{"q": [0, 0, 0, 0, NaN]}'),
        ("state", '{"p": 1}'),
        ("state", "[" * 50_000),
        ("motion", '{"q0": [0,0,0,0,0], "q1": [0,0,0,0,0], "profile": "no"}'),
        ("motion", '{"q0": [0,0,0,0,0], "q1": [0,0,0,0,0], "duration": 1e9}'),
        ("simulation", '{"q0": [0,0,0,0,0], "q1": [0,0,0,0,0], "law": "no"}'),
        ("simulation", '{"q0": [0,0,0,0,0], "q1": [0,0,0,0,0], "payload": -1}'),
    ],
)
def test_bad_questions_are_told_what_is_wrong(studio: Studio, question: str, body: str) -> None:
    status, reply = asked(studio, "POST", f"/api/{question}", body)
    assert status == 400
    assert json.loads(reply)["what"]


def test_unknown_questions_and_long_ones(studio: Studio) -> None:
    assert asked(studio, "POST", "/api/__class__", "{}")[0] == 404
    assert asked(studio, "POST", "/api/state", '{"q": "' + "x" * 200_000 + '"}')[0] == 400


def test_a_port_in_use_is_said(studio: Studio) -> None:
    with pytest.raises(ArmdynError, match="cannot be used"):
        Studio(armdyn.load("pendulum"), studio.port)


# In a browser -------------------------------------------------------------------------------------------------------


def test_the_page_shows_the_robot(studio: Studio, tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("Chromium is not installed: the page is not opened")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
               f"--user-data-dir={tmp_path}", "--virtual-time-budget=5000", "--dump-dom", studio.address]  # fmt: skip
    page = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert "<title>scara5: armdyn studio</title>" in page
    for joint in armdyn.load("scara5").joints:
        assert f"position of {joint.name}" in page
    assert "potential energy" in page and 'class="bad"' not in page
