"""Intermediate results as the texts print them, read from their own LaTeX and compared with the sheets, exactly.

The texts themselves are not part of the project: without them the tests are skipped. `repaired` undoes damages of their
files (commands that lost their backslash), nothing else; errata are listed with what is right. The page docs/printed.md
lists what is compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import armdyn
from armdyn.equations.judging import reader
from armdyn.equations.judging.naming import unknown_symbols
from armdyn.equations.judging.reader import ReadError, Statement, read
from armdyn.equations.judging.vocabulary import Vocabulary
from armdyn.equations.sheets.steps import Steps, plain_name
from armdyn.graph import Node, constant, identical, substitute, symbol
from armdyn.texts import SOURCES

TEXTS = Path(__file__).parents[3] / "shared" / "seeds"
PAGE = Path(__file__).parents[2] / "docs" / "printed.md"
pytestmark = pytest.mark.skipif(not TEXTS.is_dir(), reason="the texts are not here")


def repaired(latex: str) -> str:
    """LaTeX whose commands have their backslashes again."""
    if re.search(r"(?<![A-Za-z\\])egin\{", latex):
        latex = re.sub(r"(?<!\\)\\(?=\s)", r"\\\\", latex)
        latex = re.sub(r"(?<![A-Za-z\\])egin\{", r"\\begin{", latex)
    latex = re.sub(r"(?<![A-Za-z\\])artheta", r"\\vartheta", latex)
    latex = re.sub(r"(?<![A-Za-z\\])ight\]", "]", latex)
    latex = re.sub(r"(?<![A-Za-z\\])oldsymbol", r"\\boldsymbol", latex)
    return re.sub(r"(?<![A-Za-z\\_])m\{(\\?[A-Za-z])", r"{\1", latex)


def printed(
    number: str, begin: str, end: str, robot: armdyn.Robot, symbols: dict[str, str] | None = None
) -> list[Statement]:
    """The statements between two places of a text, each with the number of its equation in `text`.

    What cannot be read (sums, derivatives) is left out.
    """
    text = next(TEXTS.glob(f"{number}*")).read_text()
    start = text.index(begin)
    return read_blocks(text[start : text.index(end, start)], robot, symbols)


def read_blocks(text: str, robot: armdyn.Robot, symbols: dict[str, str] | None) -> list[Statement]:
    blocks = re.findall(r"\$\$(.*?)\$\$", text, re.DOTALL)
    sliding = [i + 1 for i, joint in enumerate(robot.joints) if joint.kind == "prismatic"]
    vocabulary = Vocabulary(robot.symbolic.parameters, robot.n, sliding, symbols)
    found = []
    for block in blocks:
        number = re.search(r"\\(?:quad|tag)\s*\{?\(?([\d.]+)\)?\}?\s*$", block)
        for chunk in reader._joined(reader._split(reader._ENVIRONMENTS.sub(" ", repaired(block)), reader._SEPARATORS)):
            try:
                found += [replace(x, text=f"({number[1]})" if number else "") for x in read(f"$${chunk}$$", vocabulary)]
            except ReadError:
                continue
    names = set(robot.symbolic.parameters) | {"h"}
    return [each for each in found if not set(unknown_symbols(flat(each.value), names)) or "2C" in each.name]


def flat(value: Any) -> list[Node]:
    return [value] if isinstance(value, Node) else [x for part in value for x in flat(part)]


def same(statement: Statement, value: Any) -> int:
    """Number of scalars that are identical; all of them, or the comparison fails."""
    theirs, ours = flat(statement.value), flat(value)
    theirs = theirs * len(ours) if theirs == [constant(0)] else theirs  # a zero vector
    assert len(theirs) == len(ours), statement.name
    for a, b in zip(theirs, ours, strict=True):
        assert identical(a, b), f"{statement.name}: {a} printed, {b} derived"
    return len(theirs)


def compared(statements: list[Statement], steps: Steps, more: dict[str, Any] | None = None) -> dict[str, int]:
    """Equation and name -> scalars that are identical, for statements whose name is that of a line (or in `more`)."""
    lines = {}
    for line in steps.lines:
        for part in line.name.split(" = "):
            lines[key(part)] = line.value
    lines |= {key(name): value for name, value in (more or {}).items()}
    counts: dict[str, int] = {}
    h: dict[Node, Node] = {}
    for statement in statements:
        name = key(re.sub(r"\([^()]*(?:\([^()]*\))?[^()]*\)\s*$", "", statement.name))
        if name not in lines:
            continue
        value = statement.value
        if isinstance(value, Node) and value.op == "symbol" and str(value.value) == "h":
            h[value] = lines[name]
            continue
        place = f"{statement.text} {name}".strip()
        counts[place] = counts.get(place, 0) + same(replace(statement, value=substitute(value, h)), lines[name])
    return counts


def key(name: str) -> str:
    return re.sub(r"[{}_^ \\]", "", plain_name(name))


def entries(name: str, matrix: Any) -> dict[str, Any]:
    """b_11 ... of a matrix B."""
    return {f"{name}_{{{i + 1}{j + 1}}}": x for i, row in enumerate(matrix) for j, x in enumerate(row)}


# The texts ------------------------------------------------------------------------------------------------------------


def truc_counts(folder: Path) -> dict[str, int]:
    robot = armdyn.load("three_link")
    steps = armdyn.derive(robot, "kronecker").steps()
    statements = printed("003", "It is easy to derive all", "The dynamic simulation of the three", robot)
    M, C, N = (steps.line(name).value for name in "MCN")
    more = entries("M", M) | entries("C", C)
    differences = {
        rf"\dot{{M}}_{{{i + 1}{j + 1}}} - 2C_{{{i + 1}{j + 1}}}": N[i][j] for i in range(3) for j in range(3)
    }
    # Truc (70) prints I_3zz where (67) has I_3xx: the erratum is named by the replacement that makes it right.
    swap = {symbol("I3zz", kind="parameter"): symbol("I3xx", kind="parameter")}
    readable = []
    for each in statements:
        if "2C" not in each.name:
            readable.append(each)
        elif isinstance(each.value, Node) and "@" not in str(each.value):
            wrong = each.name.replace(" ", "").startswith((r"\dot{M}_{12}", r"\dot{M}_{13}"))
            if wrong:
                name = next(n for n in differences if n.replace(" ", "") == each.name.replace(" ", ""))
                assert not identical(each.value, differences[name]), "Truc (70) is right after all"
            readable.append(replace(each, value=substitute(each.value, swap)) if wrong else each)
    return compared(readable, steps, more | differences)


def siciliano_counts(folder: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    robot = armdyn.load("planar2r")
    steps = armdyn.derive(robot, "gim_christoffel").steps()
    statements = printed("004", "7.3.2 Two-link Planar Arm", "Example 7.2\n", robot)
    wanted = [s for s in statements if not isinstance(s.value, tuple) or "b11" not in str(s.value)]
    found |= {f"7.3.2 {k}": n for k, n in compared(wanted, steps, entries("b", steps.line("B").value)).items()}
    robot = armdyn.load("cartesian2")
    steps = armdyn.derive(robot, "gim_christoffel").steps()
    statements = printed("004", "7.3.1 Two-link Cartesian Arm", "7.3.2 Two-link Planar Arm", robot)
    return found | {f"7.3.1 {k}": n for k, n in compared(statements, steps).items()}


AUGMENTED = """
name = "augmented"
convention = "standard"
gravity = [0, "-g", 0]
[parameters]
g = 9.81
a1 = 1.0
a2 = 1.0
lC1 = -0.5
lC2 = -0.5
m1 = 50.0
m2 = 50.0
Ibar1zz = 10.0
Ibar2zz = 10.0
kr1 = 100.0
kr2 = 100.0
Im1 = 0.01
Im2 = 0.01
[[joint]]
name = "shoulder"
link = "link1"
a = "a1"
mass = "m1"
com = ["lC1", 0, 0]
inertia = ["Ibar1zz - Im2", 0, 0, "Ibar1zz - Im2", 0, "Ibar1zz - Im2"]
rotor = {model = "full", inertia = "Im1", ratio = "kr1"}
[[joint]]
name = "elbow"
link = "link2"
a = "a2"
mass = "m2"
com = ["lC2", 0, 0]
inertia = ["Ibar2zz", 0, 0, "Ibar2zz", 0, "Ibar2zz"]
rotor = {model = "full", inertia = "Im2", ratio = "kr2"}
"""


def newton_euler_counts(folder: Path) -> dict[str, int]:
    """Siciliano 7.5.3, in the parameters of augmented links."""
    (folder / "augmented.toml").write_text(AUGMENTED)
    robot = armdyn.load(folder / "augmented.toml")
    steps = armdyn.derive(robot, "newton_euler").steps()
    statements = printed("004", "Forward recursion: Link 1", "As for the moment components", robot)
    kept = [s for s in statements if isinstance(s.value, Node) or len(s.value) == 3]
    return {f"7.5.3 {k}": n for k, n in compared(kept, steps).items()}


SYMMETRIC = "XX{0} XY{0} XZ{0} YY{0} YZ{0} ZZ{0} MX{0} MY{0} MZ{0} M{0}"


def khalil_robot(folder: Path) -> armdyn.Robot:
    """The first three links of the RX-90 with all inertial parameters, Khalil Example 7.1."""
    names = [name for j in (1, 2, 3) for name in SYMMETRIC.format(j).split()] + ["Ia1", "Ia2", "Ia3"]
    rows = ["g = 9.81", "D3 = 0.45", *(f"{name} = {0.5 + 0.1 * k}" for k, name in enumerate(names))]
    joints = []
    for j, (alpha, a) in enumerate((("0", "0"), ('"pi/2"', "0"), ("0", '"D3"')), 1):
        joints.append(
            f'[[joint]]\nname = "j{j}"\nlink = "l{j}"\nalpha = {alpha}\na = {a}\nmass = "M{j}"\n'
            f'moment = ["MX{j}", "MY{j}", "MZ{j}"]\nrotor = {{inertia = "Ia{j}"}}\n'
            f'inertia_origin = ["XX{j}", "XY{j}", "XZ{j}", "YY{j}", "YZ{j}", "ZZ{j}"]\n'
        )
    head = 'name = "rx90_three"\nconvention = "modified"\ngravity = [0, 0, "-g"]\n[parameters]\n'
    (folder / "rx90_three.toml").write_text(head + "\n".join([*rows, *joints]))
    return armdyn.load(folder / "rx90_three.toml")


def khalil_counts(folder: Path) -> dict[str, int]:
    robot = khalil_robot(folder)
    steps = armdyn.derive(robot, "lagrange").steps("khalil")
    symbols = {"G3": "-g", "G_3": "-g"}
    statements = printed("002", "**Example 7.1.** Computation", "7.4. Newton-Euler formulation", robot, symbols)
    A = steps.line("A").value
    kept = [s for s in statements if s.name and "MS" not in s.name and "I" not in s.name.replace(r"\mathbf", "")]
    return {f"7.1 {k}": n for k, n in compared(kept, steps, entries("A", A)).items()}


def parallelogram_counts(folder: Path) -> dict[str, int]:
    """Siciliano 7.3.3, the branch of three links: a planar arm, whose joints have a prime in print."""
    robot = armdyn.load("planar3r")
    steps = armdyn.derive(robot, "gim_christoffel").steps("siciliano")
    text = next(TEXTS.glob("004*")).read_text()
    start = text.index("With the chosen coordinate frames, computation of the Jacobians in (7.16) (7.18) yields")
    branch = re.sub(r"(\d)'", r"\1", text[start : text.index("while the moment of inertia of the virtual arm", start)])
    statements = read_blocks(branch, robot, None)
    b = entries("b", steps.line("B").value)
    wrong = next(each for each in statements if each.name.replace(" ", "") == "b_{33}")
    assert not identical(wrong.value, b["b_{33}"]), "b_33 is right after all"
    # b_33 is printed with the term a_2 l_3 c_3 of b_23.
    term = read(r"$$x_9 = m_{\ell_3} a_2 \ell_3 c_3$$", Vocabulary(robot.symbolic.parameters, 3))[0].value
    right = [Statement(each.name, each.value - term, "") if each is wrong else each for each in statements]
    return {f"7.3.3 {k}": n for k, n in compared(right, steps, b).items()}


def rx90_counts(folder: Path) -> dict[str, int]:
    """Khalil Example 7.4: angular velocities of six links, seen in their frames and in those before."""
    robot = armdyn.load("rx90")
    steps = armdyn.derive(robot, "newton_euler").steps("khalil")
    text = next(TEXTS.glob("002*")).read_text()
    start = text.index("**Example 7.4.**")
    blocks = re.findall(r"\$\$(\{\}.*?)\$\$", text[start : text.index("7.5.3. Utilization", start)], re.DOTALL)
    vocabulary = Vocabulary(robot.symbolic.parameters, 6, (), {f"QP{j}": f"qd{j}" for j in range(1, 7)})
    erratum = {symbol("WI12", kind="parameter"): symbol("WI13", kind="parameter")}
    known: dict[Node, Node] = {}
    found: dict[str, int] = {}
    for block in blocks:
        marked = re.sub(r"\b(QP|WI|W|S|C)(\d+)", r"\\mathrm{\1}_{\2}", block).replace("*", " ")
        first, *names = read(f"$${marked}$$", vocabulary)
        j, before = (int(each) for each in re.findall(r"\d", first.name))
        omega = list(steps.line(f"^{j}omega_{j}").value)
        omega[2] = omega[2] - (symbol(f"qd{j}") if before < j else 0)
        value = flat(first.value)
        if (j, before) == (4, 3):
            assert not identical(substitute(value[1], known), omega[1]), "4omega3 is right after all"
            value[1] = substitute(value[1], erratum)
        found[f"7.4 {j}omega{before}"] = same(Statement(first.name, tuple(substitute(value, known)), ""), tuple(omega))
        for name, x in zip(flat(names[0].value) if names else (), omega, strict=bool(names)):
            if name.op == "symbol" and not name.online:
                known[name] = x
    return found


def elbaji_counts(folder: Path) -> dict[str, int]:
    robot = armdyn.load("scara5")
    steps = armdyn.derive(robot, "bertrand_bruneau").steps()
    found = {}
    text = next(TEXTS.glob("000*")).read_text()
    block = repaired(re.findall(r"\$\$(T = .*?)\$\$", text, re.DOTALL)[0])
    vocabulary = Vocabulary(robot.symbolic.parameters, 5, (1, 5))
    statements = read(f"$${block}$$", vocabulary)
    T = steps.line("T_0,5").value
    found["(36) T"] = same(statements[0], T)
    cases = re.findall(r"\\begin\{cases\} x = (.*?), \\\\ y = (.*?), \\\\ z = (.*?)\. \\end\{cases\}", text)[0]
    for letter, printed_value, row in zip("xyz", cases, T, strict=False):
        value = read(rf"$$x_9 = {printed_value}$$", vocabulary)[0].value
        found[f"(37) {letter}"] = same(Statement(letter, value, ""), row[3])
    figure = text[text.index("gm_1 - gm_2") - 40 : text.index("FIGURE 3: Equations")]
    body = figure[figure.index("-gm_1") : figure.index(r"\end{aligned}")].replace("&", " ")
    names = {f"I_{{{k}z}}": f"Izz{k}" for k in (2, 3, 4)}
    vocabulary = Vocabulary(robot.symbolic.parameters, 5, (1, 5), {f"I{k}z": f"Izz{k}" for k in (2, 3, 4)} | names)
    start = 0
    for match in re.finditer(r"\+ [FT]_(\d)", body):
        part = body[start : match.start()].replace(r"\\", " ")
        start = match.end()
        value = read(rf"x_{{9}} = {part}", vocabulary)[-1].value
        i = int(match[1])
        found[f"fig. 3 tau_{i}"] = same(Statement(f"tau_{i}", -value, ""), steps.line(f"tau_{i}").value)
    return found


# The page -------------------------------------------------------------------------------------------------------------

COMPARED: dict[str, tuple[Callable[[Path], dict[str, int]], ...]] = {
    "elbaji": (elbaji_counts,),
    "khalil": (khalil_counts, rx90_counts),
    "truc": (truc_counts,),
    "siciliano": (siciliano_counts, parallelogram_counts, newton_euler_counts),
}
"""Text -> its comparisons."""
INTRO = """# Printed results

Intermediate results of the texts' worked examples, read from their print and compared with the sheets of `derive
--steps`. Every scalar listed here is identical as an expression, not only in numbers. Where the print is wrong
(Truc-1, Siciliano-2 and Khalil-3 of the [errata](errata.md)), the comparison first makes sure that it differs, and
then uses what is right. A result that is printed in two forms counts twice, a vector printed as 0 with all its
entries.
"""


def table(counts: dict[str, int]) -> list[str]:
    """Rows of where, what and how many."""
    places: dict[str, dict[str, int]] = {}
    for key, number in counts.items():
        place, _, name = key.rpartition(" ")
        places.setdefault(place, {})[name] = number
    return [f"| {place} | `{'`, `'.join(names)}` | {sum(names.values())} |" for place, names in places.items()]


def printed_markdown(folder: Path) -> str:
    """The page docs/printed.md."""
    parts, total = [], 0
    for source, comparisons in COMPARED.items():
        counts = {key: number for compare in comparisons for key, number in compare(folder).items()}
        total += sum(counts.values())
        heading = f"## {SOURCES[source].cited_as}: {sum(counts.values())} scalars"
        parts += ["", heading, "", "| equation or section | results | scalars |", "|---|---|---|", *table(counts)]
    return "\n".join([f"{INTRO}\nAll in all {total} scalars.", *parts]) + "\n"


@pytest.mark.filterwarnings("ignore::armdyn.ModelWarning")  # inertial parameters of no real body
def test_printed_results_are_identical_and_listed(tmp_path: Path) -> None:
    """Written by `python tests/equations/test_printed.py`."""
    assert PAGE.read_text(encoding="utf-8") == printed_markdown(tmp_path)


def test_a_damaged_print_is_noticed() -> None:
    """The comparison can fail: one sign changed in Truc (61)."""
    robot = armdyn.load("three_link")
    steps = armdyn.derive(robot, "kronecker").steps()
    statements = printed("003", "It is easy to derive all", "The dynamic simulation of the three", robot)
    place = next(s for s in statements if "p" in s.name and "C_3" in s.name)
    wrong = Statement(place.name, tuple((-x[0],) for x in place.value), "")
    with pytest.raises(AssertionError, match="printed"):
        compared([wrong], steps)


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        PAGE.write_text(printed_markdown(Path(made)), encoding="utf-8")
