"""Random MJCF files with the elements that the reader supports."""

from __future__ import annotations

import random

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
"""Kinds of geoms and how many sizes each has."""


class Writer:
    """Writes one random MJCF file."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.bodies = 0
        self.joints: list[str] = []
        self.copied = 0

    def maybe(self, text: str, chance: float = 0.5) -> str:
        return text if self.random.random() < chance else ""

    def numbers(self, count: int, low: float = -1.0, high: float = 1.0) -> str:
        return " ".join(f"{self.random.uniform(low, high):.3f}" for _ in range(count))

    def orientation(self) -> str:
        kind, count = self.random.choice(
            [("", 0), ("quat", 4), ("euler", 3), ("axisangle", 4), ("zaxis", 3), ("xyaxes", 6)]
        )
        return f' {kind}="{self.numbers(count)}"' if kind else ""

    def pose(self) -> str:
        return self.maybe(f' pos="{self.numbers(3)}"', 0.8) + self.orientation()

    def text(self) -> str:
        body = "".join(self.body(0) for _ in range(self.random.randint(1, 2)))
        flags = "".join(
            self.maybe(f' {flag}="disable"', 0.1) for flag in ("gravity", "damper", "frictionloss", "spring")
        )
        option = f'<option gravity="{self.numbers(3, -10, 10)}">' + (f"<flag{flags}/>" if flags else "") + "</option>"
        settings = f"{self.compiler()}{option}{self.defaults()}"
        return f"<mujoco>{settings}<worldbody>{body}</worldbody>{self.actuators()}</mujoco>"

    def compiler(self) -> str:
        choices = [
            ("angle", ("radian", "degree")),
            ("eulerseq", ("xyz", "XYZ", "zyx", "ZyX")),
            ("inertiafromgeom", ("auto", "true")),
            ("inertiagrouprange", ("0 1", "0 5")),
            ("boundmass", ("0.5",)),
            ("boundinertia", ("0.01",)),
            ("balanceinertia", ("true",)),
        ]
        chosen = "".join(self.maybe(f' {key}="{self.random.choice(values)}"', 0.3) for key, values in choices)
        return f"<compiler{chosen}/>"

    def defaults(self) -> str:
        inner = f'<default class="b"><joint {self.drive()}/><geom{self.orientation()} density="300"/></default>'
        outer = f'<default class="a"><joint {self.drive()}/><geom{self.orientation()}/>{inner}</default>'
        motor = self.maybe(f'<motor gear="{self.numbers(1, 1, 5)}"/><general armature="{self.numbers(1, 0, 1)}"/>')
        return f"<default><joint {self.drive()}/>{motor}{outer}</default>"

    def drive(self) -> str:
        given = (f'{key}="{self.numbers(1, 0, 1)}" ' for key in ("damping", "armature", "frictionloss"))
        return "".join(self.maybe(text) for text in given)

    def body(self, depth: int) -> str:
        self.bodies += 1
        name = f"b{self.bodies}x"  # names of copies, with their number behind, stay different
        joints = "".join(self.framed(self.joint(), 0.3) for _ in range(self.random.choice((0, 1, 1, 1, 2))))
        weight = self.framed(self.inertial(), 0.3) + self.maybe(self.geom())
        if self.random.random() < 0.5:
            weight = "".join(self.framed(self.geom(), 0.3) for _ in range(self.random.randint(1, 3)))
            weight += '<geom type="sphere" size="0.3" mass="1"/>'  # of a group that always counts
        children = "".join(
            self.framed(self.body(depth + 1), 0.3) for _ in range(self.random.choice((0, 1, 2)) * (depth < 3))
        )
        childclass = self.maybe(f' childclass="{self.random.choice("ab")}"', 0.3)
        text = f'<body name="{name}"{self.pose()}{childclass}>{joints}{weight}{children}</body>'
        if self.copied < 2 and self.random.random() < 0.1:
            self.copied += 1
            count = self.random.randint(1, 3)
            text = f'<replicate count="{count}" offset="{self.numbers(3)}" euler="{self.numbers(3)}">{text}</replicate>'
        return text

    def framed(self, text: str, chance: float) -> str:
        inner = self.maybe(f' childclass="{self.random.choice("ab")}"', 0.2)
        return f"<frame{self.pose()}{inner}>{text}</frame>" if self.random.random() < chance else text

    def joint(self) -> str:
        name = f"j{len(self.joints)}x"
        self.joints.append(name)
        kind = self.random.choice((' type="hinge"', ' type="slide"', ""))
        klass = self.maybe(f' class="{self.random.choice("ab")}"', 0.2)
        ref = self.maybe(f' ref="{self.numbers(1)}"', 0.3)
        place = self.maybe(f' pos="{self.numbers(3)}"')
        return f'<joint name="{name}"{kind} axis="{self.numbers(2)} 0.7"{place}{ref}{klass} {self.drive()}/>'

    def inertial(self) -> str:
        place = f'pos="{self.numbers(3)}" mass="{self.numbers(1, 0.5, 3)}"'
        moments = self.numbers(3, 1, 1.9)
        if self.random.random() < 0.5:
            return f'<inertial {place} fullinertia="{moments} {self.numbers(3, -0.02, 0.02)}"/>'
        return f'<inertial {place} diaginertia="{moments}"{self.orientation()}/>'

    def geom(self) -> str:
        kind = self.random.choice(list(SIZES))
        weight = self.random.choice((f'mass="{self.numbers(1, 0, 2)}"', f'density="{self.numbers(1, 100, 900)}"', ""))
        shell = self.maybe(' shellinertia="true"', 0.2 * (kind != "ellipsoid"))  # MuJoCo approximates that shell
        group = self.maybe(f' group="{self.random.randint(0, 3)}"', 0.3)
        klass = self.maybe(f' class="{self.random.choice("ab")}"', 0.2)
        if SIZES[kind] > 1 and self.random.random() < 0.3:
            size = f'size="{self.numbers(1, 0.1, 0.5)}" fromto="{self.numbers(6)}"'
            return f'<geom type="{kind}" {size} {weight}{shell}{group}/>'
        size = self.numbers(SIZES[kind], 0.1, 0.5)
        return f'<geom type="{kind}" size="{size}" {weight}{shell}{group}{klass}{self.pose()}/>'

    def actuators(self) -> str:
        rows = ""
        for joint in self.joints:
            kind = self.random.choice(("motor", "position", "general", "velocity"))
            drive = self.drive().replace("frictionloss", "kv" if kind in ("position", "velocity") else "gear")
            rows += self.maybe(f'<{kind} joint="{joint}" {drive}/>', 0.4)
        return f"<actuator>{rows}</actuator>" if rows else ""
