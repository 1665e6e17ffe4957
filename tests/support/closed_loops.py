"""Closed loops in exported languages: an exported law drives an exported plant, integrated by a loop written here.

Each language reads the references of all periods from a file and writes the positions that it measured in each.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

import armdyn
from armdyn.control.base import Law
from armdyn.robot import Robot


@dataclass(frozen=True)
class ClosedLoop:
    """A law that drives a plant from the state q0 at rest.

    measured: coordinates of the plant that the law sees: those of the motors, if joints are elastic.
    reference: (periods, size) by the names of the arguments of `control`.
    """

    robot: Robot
    law: Law
    plant: Robot
    q0: np.ndarray
    measured: list[int]
    reference: Mapping[str, np.ndarray]
    period: float

    @property
    def memory(self) -> int:
        n = len(self.measured)
        return len(self.law.start(np.zeros(n), np.zeros(n)))

    def run(self, language: str, folder: Path) -> np.ndarray:
        """(periods, n) measured positions; the folder is empty."""
        armdyn.export(self.robot, language, prefix="law", law=self.law, period=self.period).save(folder / "law")
        armdyn.export(self.plant, language, ["forward_dynamics"], "plant").save(folder / "plant")
        table = np.concatenate([self.q0, *np.hstack([*self.reference.values()])])
        table.astype("<f8").tofile(folder / "table")
        source, commands = DRIVERS[language]
        values = {"N": len(self.measured), "S": len(self.q0), "Z": self.memory, "T": repr(self.period)}
        values |= {"R": sum(x.shape[1] for x in self.reference.values())}
        values |= {"K": len(next(iter(self.reference.values()))), "MEASURED": ", ".join(map(str, self.measured))}
        values["NAMES"] = str([*self.reference])
        text = source
        for name, value in (values | self._calls(language)).items():
            text = text.replace(f"@{name}@", str(value))
        suffix = {"c": "c", "cpp": "cpp", "wasm": "mjs", "matlab": "m", "fmu": "py"}[language]
        (folder / f"drive.{suffix}").write_text(text)
        for command in commands:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return np.fromfile(folder / "path", "<f8").reshape(-1, len(self.measured))

    def _calls(self, language: str) -> dict[str, str]:
        """The calls of the law, which has a memory or not."""
        starts = np.cumsum([0, *(x.shape[1] for x in self.reference.values())])
        spans = list(pairwise(starts))
        z = self.memory
        if language == "fmu":
            return {}
        if language == "c":
            arguments = ["time", "x", "xd", *(f"r + {a}" for a, _ in spans), *(["z"] if z else []), "tau"]
            return {
                "CONTROL": f"law_control({', '.join([*arguments, *(['z'] if z else [])])});",
                "START": "law_start(x, xd, z);" if z else "(void)z;",
            }
        if language == "cpp":
            parts = [f"part<{b - a}>(r + {a})" for a, b in spans]
            given = ", ".join(["law::Vector<1>{time}", "x", "xd", *parts, *(["z"] if z else [])])
            tau = "const auto f = law.control({});{} const auto tau = f{};"
            several = z or hasattr(self.law, "residual")
            return {
                "CONTROL": tau.format(given, " z = f.next_memory;" if z else "", ".tau" if several else ""),
                "START": f"law::Vector<{z}> z = law.start(x, xd);" if z else "",
            }
        if language == "wasm":
            parts = [f"r.subarray({a}, {b})" for a, b in spans]
            given = ", ".join(["[time]", "x", "xd", *parts, *(["z"] if z else [])])
            keep = "tau = f.tau; z = f.next_memory;" if z else "tau = f;"
            return {"CONTROL": f"f = law.control({given}); {keep}", "START": "z = law.start(x, xd);" if z else ""}
        parts = [f"r({a + 1}:{b})" for a, b in spans]
        given = ", ".join(["time", "x", "xd", *parts, *(["z"] if z else [])])
        results = "[tau, z]" if z else "tau"
        return {"CONTROL": f"{results} = law_control({given});", "START": "z = law_start(x, xd);" if z else ""}


LOOP_IN_C = """
    for (k = 0; k < @K@; k++) {
        const double *r = table + @S@ + (long)k*@R@;
        const double time[1] = {@T@*k};
        for (i = 0; i < @N@; i++) { x[i] = q[seen[i]]; xd[i] = qd[seen[i]]; }
        fwrite(x, sizeof(double), @N@, out);
        @CONTROL@
        for (i = 0; i < @N@; i++) { force[seen[i]] = tau[i]; }
        for (s = 0; s < 4; s++) { /* the classical method of Runge and Kutta */
            for (i = 0; i < @S@; i++) {
                qs[i] = s ? q[i] + part[s]*v[s - 1][i] : q[i];
                v[s][i] = s ? qd[i] + part[s]*a[s - 1][i] : qd[i];
            }
            @PLANT@
        }
        for (i = 0; i < @S@; i++) {
            q[i] += h/6*(v[0][i] + 2*v[1][i] + 2*v[2][i] + v[3][i]);
            qd[i] += h/6*(a[0][i] + 2*a[1][i] + 2*a[2][i] + a[3][i]);
        }
    }
"""
IN_C = (
    """
#include <stdio.h>
#include "law/law.h"
#include "plant/plant.h"
static double table[@S@ + @K@*@R@];
int main(void)
{
    const int seen[] = {@MEASURED@};
    const double h = @T@, part[4] = {0, h/2, h/2, h};
    double q[@S@], qd[@S@] = {0}, x[@N@], xd[@N@] = {0}, z[@Z@ + 1], tau[@N@], qs[@S@], v[4][@S@], a[4][@S@];
    double force[@S@] = {0};
    FILE *in = fopen("table", "rb"), *out = fopen("path", "wb");
    int k, i, s;
    if (fread(table, sizeof(double), @S@ + @K@*@R@, in) != @S@ + @K@*@R@) return 1;
    for (i = 0; i < @S@; i++) q[i] = table[i];
    for (i = 0; i < @N@; i++) x[i] = q[seen[i]];
    @START@
"""
    + LOOP_IN_C.replace("@PLANT@", "plant_forward_dynamics(qs, v[s], force, a[s]);")
    + "    return fclose(out);\n}\n"
)
IN_CPP = (
    (
        """
#include <algorithm>
#include <cstdio>
#include <vector>
#include "law/law.hpp"
#include "plant/plant.hpp"
template <std::size_t N> law::Vector<N> part(const double *from)
{
    law::Vector<N> found{};
    std::copy(from, from + N, found.begin());
    return found;
}
int main()
{
    const int seen[] = {@MEASURED@};
    const double h = @T@, part[4] = {0, h/2, h/2, h};
    const law::Robot law{};
    const plant::Robot arm{};
    plant::Vector<@S@> q{}, qd{}, qs{}, v[4]{}, a[4]{}, force{};
    law::Vector<@N@> x{}, xd{};
    std::vector<double> numbers(@S@ + @K@*@R@);
    double *table = numbers.data();
    FILE *in = fopen("table", "rb"), *out = fopen("path", "wb");
    int k, i, s;
    if (fread(table, sizeof(double), numbers.size(), in) != numbers.size()) return 1;
    for (i = 0; i < @S@; i++) q[i] = table[i];
    for (i = 0; i < @N@; i++) x[i] = q[seen[i]];
    @START@
"""
        + LOOP_IN_C.replace("fwrite(x,", "fwrite(x.data(),")
        .replace("const double time[1] = {@T@*k};", "const double time = @T@*k;")
        .replace("part[s]*", "at[s]*")
        .replace("@PLANT@", "a[s] = arm.forward_dynamics(qs, v[s], force);")
        + "    return fclose(out);\n}\n"
    )
    .replace("h, part[4]", "h, at[4]")
    .replace("= @T@, part[4]", "= @T@, at[4]")
)
IN_JAVASCRIPT = """
import { readFileSync, writeFileSync } from "node:fs";
import { load } from "./law/law.mjs";
import { load as load_plant } from "./plant/plant.mjs";
const law = await load(), arm = await load_plant();
const bytes = readFileSync("table"), seen = [@MEASURED@], h = @T@;
const table = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const plus = (x, c, y) => x.map((each, i) => each + c*y[i]);
let q = table.slice(0, @S@), qd = new Float64Array(@S@), x = seen.map((i) => q[i]), xd = seen.map((i) => qd[i]);
let z, f, tau;
const force = new Float64Array(@S@), path = new Float64Array(@K@*@N@);
@START@
for (let k = 0; k < @K@; k++) {
  const r = table.subarray(@S@ + k*@R@, @S@ + (k + 1)*@R@), time = @T@*k;
  x = seen.map((i) => q[i]); xd = seen.map((i) => qd[i]);
  path.set(x, k*@N@);
  @CONTROL@
  seen.forEach((place, i) => { force[place] = tau[i]; });
  const a1 = arm.forward_dynamics(q, qd, force);
  const v2 = plus(qd, h/2, a1), a2 = arm.forward_dynamics(plus(q, h/2, qd), v2, force);
  const v3 = plus(qd, h/2, a2), a3 = arm.forward_dynamics(plus(q, h/2, v2), v3, force);
  const v4 = plus(qd, h, a3), a4 = arm.forward_dynamics(plus(q, h, v3), v4, force);
  q = q.map((each, i) => each + h/6*(qd[i] + 2*v2[i] + 2*v3[i] + v4[i]));
  qd = qd.map((each, i) => each + h/6*(a1[i] + 2*a2[i] + 2*a3[i] + a4[i]));
}
writeFileSync("path", new Uint8Array(path.buffer));
"""
IN_MATLAB = """
addpath('law'), addpath('plant')
file = fopen('table', 'rb'); table = fread(file, Inf, 'double'); fclose(file);
seen = [@MEASURED@] + 1; h = @T@; q = table(1:@S@); qd = zeros(@S@, 1); x = q(seen); xd = qd(seen);
path = zeros(@N@, @K@); force = zeros(@S@, 1);
@START@
for k = 0:@K@ - 1
    r = table(@S@ + k*@R@ + (1:@R@)); time = @T@*k;
    x = q(seen); xd = qd(seen); path(:, k + 1) = x;
    @CONTROL@
    force(seen) = tau;
    a1 = plant_forward_dynamics(q, qd, force);
    v2 = qd + h/2*a1; a2 = plant_forward_dynamics(q + h/2*qd, v2, force);
    v3 = qd + h/2*a2; a3 = plant_forward_dynamics(q + h/2*v2, v3, force);
    v4 = qd + h*a3; a4 = plant_forward_dynamics(q + h*v3, v4, force);
    q = q + h/6*(qd + 2*v2 + 2*v3 + v4); qd = qd + h/6*(a1 + 2*a2 + 2*a3 + a4);
end
file = fopen('path', 'wb'); fwrite(file, path, 'double'); fclose(file);
"""
IN_PYTHON = """
import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Slave

def opened(kind, file):
    folder, known = fmpy.extract(file), fmpy.read_model_description(file)
    unit = kind(guid=known.guid, unzipDirectory=folder, modelIdentifier=known.coSimulation.modelIdentifier)
    unit.instantiate()
    places = {}
    for variable in known.modelVariables:
        places.setdefault(variable.name.replace("[", ".").split(".")[0], []).append(variable.valueReference)
    return unit, places

table, h = np.fromfile("table"), @T@
q, rows = table[:@S@], table[@S@:].reshape(@K@, @R@)
arm, of_arm = opened(FMU2Model, "plant/plant_forward_dynamics_fmi2.fmu")
arm.setupExperiment()
arm.enterInitializationMode()
arm.exitInitializationMode()
laws = [opened(FMU2Slave, "law/law_controller_fmi2.fmu"), opened(FMU3Slave, "law/law_controller.fmu")]
x, rates = np.concatenate([q, np.zeros(@S@)]), np.zeros(2*@S@)

def rate(x):
    arm.setContinuousStates(x.ctypes.data_as(arm_kind), len(x))
    arm.getDerivatives(rates.ctypes.data_as(arm_kind), len(x))
    return rates.copy()

import ctypes
arm_kind, path = ctypes.POINTER(ctypes.c_double), []
for k, row in enumerate(rows):
    path.append(x[:@N@])
    found = []
    for law, places in laws:
        put, get = (law.setReal, law.getReal) if isinstance(law, FMU2Slave) else (law.setFloat64, law.getFloat64)
        if k == 0:
            law.setupExperiment() if isinstance(law, FMU2Slave) else None
            law.enterInitializationMode()
        put(places["q"], x[:@N@].tolist())
        put(places["qd"], x[@S@:@S@ + @N@].tolist())
        put([place for name in @NAMES@ for place in places[name]], row.tolist())
        if k == 0:
            law.exitInitializationMode()
        law.doStep(k*h, h)
        found.append(get(places["tau"]))
    assert found[0] == found[1]
    arm.setReal(of_arm["tau"], found[0])
    a = rate(x)
    b = rate(x + h/2*a)
    c = rate(x + h/2*b)
    x = x + h/6*(a + 2*b + 2*c + rate(x + h*c))
np.array(path).tofile("path")
"""
COMPILER = shutil.which("gcc") or shutil.which("clang") or "cc"
DRIVERS = {
    "c": (IN_C, [[COMPILER, "-O1", "drive.c", "law/law.c", "plant/plant.c", "-lm", "-o", "drive"], ["./drive"]]),
    "cpp": (IN_CPP, [["c++", "-std=c++17", "-O1", "drive.cpp", "-o", "drive"], ["./drive"]]),
    "wasm": (IN_JAVASCRIPT, [["node", "drive.mjs"]]),
    "fmu": (IN_PYTHON, [[sys.executable, "drive.py"]]),
    "matlab": (IN_MATLAB, [["octave-cli", "--no-gui", "drive.m"]]),
}
NEEDS = {"c": COMPILER, "cpp": "c++", "wasm": "node", "fmu": sys.executable, "matlab": "octave-cli"}
