"""Films of a moving arm: what they show is the motion."""

from __future__ import annotations

import re
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import armdyn
from armdyn.errors import ArmdynError, MissingExtra
from armdyn.report.figures import animation
from armdyn.report.figures.animation import RATE, write_film
from armdyn.simulation import Experiment
from armdyn.simulation.experiment import ReferenceMotion


def pictures(path: Path) -> list[np.ndarray]:
    with Image.open(path) as film:
        frames = []
        for k in range(getattr(film, "n_frames", 1)):
            film.seek(k)
            frames.append(np.asarray(film.convert("RGB"), dtype=int))
    return frames


def test_a_film_shows_the_arm_moving_and_then_at_rest(tmp_path: Path) -> None:
    """planar2r moves during the first half: pictures change, and do not afterwards but for the clock."""
    robot, t = armdyn.load("planar2r"), np.linspace(0, 1, 201)
    q = np.outer(np.minimum(2 * t, 1), [1.2, 0.6])
    frames = pictures(write_film(robot, t, q, tmp_path / "arm.gif"))
    assert len(frames) == RATE + 1
    arm = [frame[60:] for frame in frames]  # below the clock
    changes = [np.abs(b - a).mean() for a, b in pairwise(arm)]
    assert min(changes[: RATE // 2 - 1]) > 10 * max(changes[RATE // 2 + 1 :])
    assert np.abs(frames[-1][:60] - frames[-2][:60]).max() > 50  # the clock goes on


def test_long_motions_are_shown_faster_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(animation, "MOST_PICTURES", 5)
    robot, t = armdyn.load("pendulum"), np.linspace(0, 10, 101)
    path = write_film(robot, t, t[:, None] / 10, tmp_path / "arm.html")
    assert len(re.findall(r"data:image/png;base64", path.read_text())) == 5


def test_runs_and_plans_can_be_filmed(tmp_path: Path) -> None:
    robot = armdyn.load("pendulum")
    run = armdyn.simulate(robot, Experiment(reference=ReferenceMotion(motion=[0.5], duration=0.2)))
    assert len(pictures(run.animate(tmp_path / "run.gif"))) >= 2
    plan = armdyn.plan(robot, [[0.0], [0.5]])
    assert len(pictures(plan.animate(tmp_path / "plan.gif"))) >= 2


@pytest.mark.skipif(not shutil.which("ffmpeg"), reason="ffmpeg is not installed")
def test_mp4(tmp_path: Path) -> None:
    path = write_film(armdyn.load("pendulum"), np.array([0.0, 0.2]), np.array([[0.0], [0.3]]), tmp_path / "arm.mp4")
    assert path.read_bytes()[4:8] == b"ftyp"


def test_without_ffmpeg_other_films_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.animation import FFMpegWriter

    monkeypatch.setattr(FFMpegWriter, "isAvailable", lambda: False)
    robot, t = armdyn.load("pendulum"), np.array([0.0, 0.2])
    with pytest.raises(MissingExtra, match=r"\.gif or \.html"):
        write_film(robot, t, t[:, None], tmp_path / "arm.mp4")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ArmdynError, match=r"one of: \.gif"):
        write_film(robot, t, t[:, None], tmp_path / "arm.avi")
