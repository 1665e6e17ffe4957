"""The robot in space: its links, the tool's gizmo, gravity, ellipsoids, centres of mass. Sends to viser's scene."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from armdyn.browser.robot_queries import RobotQueries
from armdyn.browser.solids import (
    Solid,
    Viewpoint,
    across,
    poses,
    quaternion,
    rgb,
    slides,
    solids,
    surroundings,
    weights,
)
from armdyn.kinematics.scene import GROUND, PALETTE
from armdyn.typing import Array

ELLIPSOID, FINDING, MASS, PULL, PATH = (
    (194, 82, 139),
    (209, 73, 91),
    (43, 48, 56),
    (224, 130, 20),
    (59, 125, 216),
)
FLOOR = {False: ((196, 200, 206), (160, 165, 173)), True: ((58, 61, 66), (88, 92, 99))}
"""Colours of the floor's cells and sections; True: dark."""
VIEW = 0.7
"""Vertical field of view, rad: narrow enough that plumb lines look plumb."""
NARROW = 0.65
"""Width over height of a page whose panels are below the arm."""
FIRST = 1.0
"""Width over height of a page before it is known."""
ABOVE = 0.58
"""How far above the middle of a narrow page the arm is seen, of half its height: panels leave 40 % free."""
BESIDE, LABEL = 0.25, 0.17
"""Distance from the arm to the arrow of gravity, and half the width of its label, as shares of the arm's size."""
Dragged = Callable[[str, Array, Array], None]
"""Called with the phase (start, update, end), the position (3,) and the quaternion (4,) of the gizmo."""


class RobotStage:
    """The scene of one robot. `place` moves it; the rest is sent once.

    root: in front of all names. A page that is open gives a node the place of the one of this name before it, so the
    scene of the next robot has another root.
    """

    def __init__(self, server: Any, answers: RobotQueries, q: Array, dragged: Dragged, root: str) -> None:
        self.server, self.answers, self.scene, self.root = server, answers, server.scene, root
        tool = answers.dyn.pose(q)
        self.set = surroundings(answers.dyn, q)
        self.seen: dict[int, Array] = {}
        """Camera position last set for each page."""
        self.scene.reset()
        self._set_scene()
        self.links = [
            self.scene.add_frame(
                self._node(k), show_axes=False, axes_length=0.13 * self.set.size, axes_radius=0.006 * self.set.size
            )
            for k in range(len(answers.robot.opened.links))
        ]
        for k, solid in enumerate(solids(answers.robot, self.set.size)):
            self._add(f"{self._node(solid.link)}/solid{k}", solid)
        self.slides = self._line(
            f"{self.root}/slides", slides(answers.robot, poses(answers.dyn, q)), rgb(PALETTE["link"]), 0.03
        )
        self.gizmo = self.scene.add_transform_controls(
            f"{self.root}/tool",
            scale=0.2 * self.set.size,
            disable_rotations=True,
            depth_test=False,
            position=tool[:3, 3],
        )
        self.gizmo.on_update(lambda event: dragged(event.phase, *self.gizmo_pose()))
        self.masses: list[Any] = []
        self.inertias: list[Any] = []
        self.ellipsoid: Any = None
        self.pull: Any = None
        self.path: Any = None

    def gizmo_pose(self) -> tuple[Array, Array]:
        """Position (3,) and quaternion (4,) of the gizmo."""
        return np.array(self.gizmo.position, dtype=float), np.array(self.gizmo.wxyz, dtype=float)

    # Once -----------------------------------------------------------------------------------------------------------

    def _set_scene(self) -> None:
        where, scene = self.set, self.scene
        self._add_lights(where)
        scene.set_up_direction(tuple(where.up))
        turned = np.column_stack([*across(where.up), where.up])
        floor = where.middle - where.up * (float(where.middle @ where.up) - where.floor + 0.03 * where.size)
        self.floor = scene.add_grid(
            f"{self.root}/floor",
            width=3.0 * where.size,
            height=3.0 * where.size,
            cell_size=0.15 * where.size,
            section_size=0.75 * where.size,
            plane="xy",
            position=floor,
            wxyz=quaternion(turned),
        )
        if where.gravity:
            self._add_gravity(where)
        camera, (position, target) = self.server.initial_camera, self._view(FIRST)
        camera.position, camera.look_at, camera.up, camera.fov = tuple(position), tuple(target), tuple(where.up), VIEW

    def _add_lights(self, where: Viewpoint) -> None:
        """Two lamps and the sky: a third of the cost of shadows and reflections where no graphics card draws them."""
        scene, left = self.scene, where.left
        scene.configure_default_lights(enabled=False)
        scene.configure_environment_map(hdri=None)
        scene.add_light_hemisphere(f"{self.root}/sky", ground_color=(176, 180, 190), intensity=1.9, position=where.up)
        for name, direction, strength in (
            ("key", where.away + 0.8 * left + 1.2 * where.up, 1.8),
            ("fill", where.away - 1.5 * left, 0.5),
        ):
            scene.add_light_directional(f"{self.root}/{name}", intensity=strength, position=10 * where.size * direction)

    def _add_gravity(self, where: Viewpoint) -> None:
        """An arrow with its strength beside the arm, on the left as it is seen first."""
        top = where.middle + (where.sides[0] + BESIDE * where.size) * where.left + 0.45 * where.size * where.up
        thick = 0.012 * where.size
        self.scene.add_arrows(
            f"{self.root}/gravity",
            np.array([[top, top - 0.32 * where.size * where.up]]),
            rgb(PALETTE["gravity"]),
            shaft_radius=thick,
            head_radius=3 * thick,
            head_length=6 * thick,
        )
        self.scene.add_label(
            f"{self.root}/gravity/label",
            f"gravity {where.gravity:.3g} m/s²",
            anchor="bottom-center",
            position=top + 0.03 * where.size * where.up,
        )

    def themed(self, dark: bool) -> None:
        """The floor's lines for light or dark colours."""
        self.floor.cell_color, self.floor.section_color = FLOOR[dark]

    def look(self, client: Any) -> None:
        """Turn one page's camera to where the arm is seen first."""
        position, target = self._view(client.camera.aspect)
        self.seen[client.client_id] = position
        with client.atomic():
            client.camera.up_direction, client.camera.fov = self.set.up, VIEW
            client.camera.position = position  # moves `look_at` too
            client.camera.look_at = target

    def look_again(self, client: Any) -> None:
        """Do so again where the page has another shape now, unless somebody moved the camera."""
        first, wanted = self._view(FIRST)[0], self._view(client.camera.aspect)[0]
        here = [self._near(client, place) for place in (first, self.seen.get(client.client_id, first))]
        if any(here) and not self._near(client, wanted):
            self.look(client)

    def _near(self, client: Any, position: Array) -> bool:
        return bool(np.abs(np.array(client.camera.position) - position).max() < 1e-3 * self.set.size)

    def _view(self, aspect: float) -> tuple[Array, Array]:
        """Position of the camera and what it looks at: arm and arrow fill a page of some width over height."""
        where, (left, right) = self.set, self.set.sides
        left, right = left + (BESIDE + LABEL) * where.size, right + 2 * LABEL * where.size
        narrow = aspect < NARROW
        half = max(where.size * (1.9 if narrow else 1.0), (left + right) / 2 / max(aspect, 0.3))  # of the height
        target = where.middle + (left - right) / 2 * where.left - (ABOVE * half * where.up if narrow else 0.0)
        return target + half / math.tan(VIEW / 2) * where.away, target

    def _add(self, name: str, solid: Solid) -> Any:
        place: dict[str, Any] = {"position": solid.T[:3, 3], "wxyz": quaternion(solid.T[:3, :3])}
        paint: dict[str, Any] = {"color": solid.color, "opacity": solid.opacity if solid.opacity < 1 else None}
        if solid.kind == "box":
            return self.scene.add_box(name, dimensions=solid.size, **paint, **place)
        if solid.kind == "ball":
            return self.scene.add_icosphere(name, radius=1.0, scale=solid.size, **paint, **place)
        if solid.kind == "cylinder":
            return self.scene.add_cylinder(name, radius=solid.size[0], height=solid.size[1], **paint, **place)
        vertices, faces = np.asarray(solid.mesh.vertices), np.asarray(solid.mesh.faces)
        return self.scene.add_mesh_simple(name, vertices, faces, **paint, **place)

    # Each configuration ---------------------------------------------------------------------------------------------

    def place(self, q: Array, *, gizmo: bool = True, pull: Array | None = None) -> None:
        """Show the arm at q. gizmo: whether the gizmo follows the tool. pull: where the tool is pulled to."""
        where = poses(self.answers.dyn, q)
        for handle, T in zip(self.links, where, strict=True):
            handle.position, handle.wxyz = T[:3, 3], quaternion(T[:3, :3])
        if self.slides is not None:
            self.slides.points = slides(self.answers.robot, where).astype(np.float32)
        T = self.answers.dyn.pose(q)
        if gizmo:
            self.gizmo.position, self.gizmo.wxyz = T[:3, 3], quaternion(T[:3, :3])
        self._show_pull(T[:3, 3], pull)

    def show_ellipsoid(self, kind: str, q: Array) -> bool:
        """Draw an ellipsoid at the tool, "none" for none; False where it does not exist."""
        found = self.answers.ellipsoid(kind, q) if kind != "none" else None
        longest = float(np.linalg.norm(found[0], axis=0).max()) if found else 0.0
        if found is None or longest == 0.0:
            self.ellipsoid = _without(self.ellipsoid)
            return kind == "none"
        scale = 0.35 * self.set.size / longest
        U, s, _ = np.linalg.svd(scale * found[0])
        U[:, 2] *= np.sign(np.linalg.det(U))
        size, wxyz = np.maximum(s, 2e-3 * self.set.size), quaternion(U)
        centre = self.answers.dyn.pose(q)[:3, 3] + scale * found[1]
        if self.ellipsoid is None:
            self.ellipsoid = self.scene.add_icosphere(
                f"{self.root}/ellipsoid", radius=1.0, color=ELLIPSOID, opacity=0.35
            )
        self.ellipsoid.scale, self.ellipsoid.wxyz, self.ellipsoid.position = size, wxyz, centre
        return True

    def show_frames(self, shown: bool) -> None:
        """Draw the frames of the links."""
        for handle in self.links:
            handle.show_axes = shown

    def show_weights(self, centres: bool, ellipsoids: bool, wrong: Collection[str]) -> None:
        """Draw centres of mass and inertia ellipsoids; those of bodies with a finding in red, always."""
        for handle in (*self.masses, *self.inertias):
            handle.remove()
        self.masses, self.inertias = [], []
        bodies = weights(self.answers.robot)
        heaviest = max((body.mass for body in bodies), default=1.0)
        for k, body in enumerate(bodies):
            found = body.body in wrong
            radius = 0.04 * self.set.size * max(0.3, (body.mass / heaviest) ** (1 / 3))
            if centres or found:
                self.masses.append(
                    self.scene.add_icosphere(
                        f"{self._node(body.link)}/mass{k}",
                        radius=radius,
                        color=FINDING if found else MASS,
                        position=body.com,
                    )
                )
            if ellipsoids and body.semi_axes is not None:
                axes = body.axes * np.sign(np.linalg.det(body.axes))
                semi_axes = np.maximum(body.semi_axes, 2e-3 * self.set.size)
                self.inertias.append(
                    self.scene.add_icosphere(
                        f"{self._node(body.link)}/inertia{k}",
                        radius=1.0,
                        scale=semi_axes,
                        color=FINDING if found else PULL,
                        opacity=0.4,
                        position=body.com,
                        wxyz=quaternion(axes),
                    )
                )

    def _show_pull(self, tool: Array, target: Array | None) -> None:
        """Draw the line from the tool to where it is pulled."""
        self.pull = _without(self.pull)
        if target is not None and float(np.linalg.norm(target - tool)) > 1e-3 * self.set.size:
            thick = 0.008 * self.set.size
            self.pull = self.scene.add_arrows(
                f"{self.root}/pull",
                np.array([[tool, target]]),
                PULL,
                shaft_radius=thick,
                head_radius=3 * thick,
                head_length=5 * thick,
            )

    def show_path(self, tools: Array | None) -> None:
        """Draw the way of the tool, (k, 3), and remove the last one."""
        self.path = _without(self.path)
        if tools is not None and len(tools) > 1 and float(np.ptp(tools, axis=0).max()) > 1e-6:
            self.path = self._line(f"{self.root}/path", np.stack([tools[:-1], tools[1:]], axis=1), PATH, 0.008)

    def _node(self, link: int) -> str:
        """The name of a link's frame."""
        return f"{self.root}/ground" if link == GROUND else f"{self.root}/link{link}"

    def _line(self, name: str, points: Array, color: tuple[int, int, int], thick: float) -> Any:
        if not len(points):
            return None
        return self.scene.add_line_segments(name, points.astype(np.float32), color, thickness=thick * self.set.size)


def _without(handle: Any) -> Any:
    """Remove what was drawn; None, for what is drawn now."""
    if handle is not None:
        handle.remove()
    return None
