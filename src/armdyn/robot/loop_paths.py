"""Which joints a closed loop runs through, and which joints follow from others."""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.robot.parts import Joint, Loop


def branches(tree: Sequence[Joint], loop: Loop) -> tuple[list[str], list[str]]:
    """Return the names of the movable joints from the last common body to the first and to the second end."""
    carriers = {joint.body.name: joint for joint in tree}
    paths = []
    for body in (loop.first, loop.second):
        path: list[Joint] = []
        while body in carriers:
            path.insert(0, carriers[body])
            body = carriers[body].parent
        paths.append(path)
    first, second = paths
    shared = sum(a is b for a, b in zip(first, second, strict=False))
    one, two = ([joint.name for joint in path[shared:] if joint.kind != "fixed"] for path in (first, second))
    return one, two


def dependent_joints(tree: Sequence[Joint], loops: Sequence[Loop]) -> frozenset[str]:
    """Return the names of the joints that follow from others: mimic joints, and passive joints within loops."""
    within = {name for loop in loops for branch in branches(tree, loop) for name in branch}
    return frozenset(
        joint.name
        for joint in tree
        if joint.kind != "fixed" and (joint.mimic is not None or (joint.passive and joint.name in within))
    )
