"""Lines of our assembly: LLVM can assemble every form for the processors that it is written for, and no other is used.

LLVM ends the process at a line it does not know, so all that is assembled here is assembled in another process.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from armdyn.errors import PerformanceWarning
from armdyn.graph import Graph, trace
from armdyn.kernels import assembly, build, forms, jit
from armdyn.kernels.kernel import program as planned
from armdyn.kernels.row_assembly import Rows
from armdyn.kernels.straight import emit as ir
from support.random_programs import SIZES, inputs, program

pytestmark = pytest.mark.skipif(not jit.available(), reason="no LLVM")

SPACE, EVEX = 4, 0x62
ASSEMBLE = """
import sys
import llvmlite.binding as llvm
path, triple, cpu = sys.argv[1:]
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
llvm.initialize_native_asmparser()
machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features="", opt=1, reloc="pic")
for text in open(path).read().split("=" * 9):
    made = llvm.ObjectFileRef.from_data(machine.emit_object(llvm.parse_assembly(text)))
    print(*(section.data().hex() for section in made.sections() if section.is_text()))
"""
X86, ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"


def assembled(texts: list[str], triple: str, folder: Path, cpu: str = "x86-64") -> subprocess.CompletedProcess[str]:
    """The other process, which prints the code."""
    path = folder / "modules.ll"
    path.write_text(("=" * 9).join(f'target triple = "{triple}"\n{text}' for text in texts))
    command = [sys.executable, "-c", ASSEMBLE, str(path), triple, cpu]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def module(lines: list[str]) -> str:
    return f'module asm "{forms.NEXT.join(lines)}"\n'


def filled(form: str, largest: bool, wide: bool) -> str:
    """A line of this form with small or large numbers."""
    instruction = form.split()[0]
    high = wide and instruction not in forms.LOW_ONLY
    immediate = {"vin": "1", "vex": "1", "vcm": "30"}.get(form[:3], "1048576" if largest else "-64")
    line = re.sub(r"mm#", f"mm{(31 if high else 15) if largest else 0}", form)
    line = line.replace("%k#", "%k1").replace("%r#", "%r15" if largest else "%r8").replace("$#", f"${immediate}")
    line = re.sub(r"#(?=\()", "1048568" if largest else "-1024", line)
    return line.replace("#", "5")


@pytest.mark.parametrize("wide", [False, True])
def test_every_form_can_be_assembled(wide: bool, tmp_path: Path) -> None:
    """Those for AVX2 without a byte of AVX-512, whose instructions begin with EVEX."""
    listed = sorted(form for form in set(forms.forms(wide)) if form[0] != "." and form[-1] != ":")
    lines = [filled(form, largest, wide) for form in listed for largest in (False, True)]
    labels = [".Lblock:", ".Lfirst:", ".Lchunk:", ".Lconstants:", ".Lmask:", ".Lplaces:"]
    done = assembled([module([*labels, *(f".p2align {SPACE}{forms.NEXT}{line}" for line in lines)])], X86, tmp_path)
    assert done.returncode == 0, done.stderr
    first = bytes.fromhex(done.stdout)[:: 2**SPACE]
    of_avx512 = [line for line, byte in zip(lines, first, strict=True) if byte == EVEX]
    assert bool(of_avx512) == wide, of_avx512


@pytest.mark.parametrize(("line", "wide"), [
    ("vinsertf128 $1, 0(%rax), %ymm16, %ymm16", True),
    ("vmovsd %xmm0 0(%rax)", True),
    ("vdance %xmm0", False),
])  # fmt: skip
def test_what_is_no_form_cannot(line: str, wide: bool, tmp_path: Path) -> None:
    assert assembled([module([line])], X86, tmp_path).returncode != 0
    with pytest.raises(forms.UnknownForm):
        forms.check(line, wide)


@pytest.mark.parametrize("line", [
    "vmulsd %xmm16, %xmm0, %xmm0",
    "vaddpd 0(%r11){1to4}, %ymm0, %ymm0",
    "vmovapd %ymm0, %ymm1 {%k1}",
    "vmulpd %zmm0, %zmm1, %zmm2",
])  # fmt: skip
def test_no_form_of_avx2_is_one_of_avx512(line: str) -> None:
    """LLVM would assemble them for any processor."""
    forms.check(line, True)
    with pytest.raises(forms.UnknownForm):
        forms.check(line, False)


@pytest.mark.parametrize("wide", [False, True])
def test_random_programs_can_be_assembled(wide: bool, tmp_path: Path) -> None:
    """No line is of another form, which `core` would notice."""
    texts = []
    for seed in range(4):
        graph = program(seed, 60 + 200 * (seed % 2))
        for lanes in (1, 4, *([8] if wide else [])):
            texts.append(assembly.core(*planned(graph), lanes, wide=wide))
    done = assembled(texts, X86, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("triple", "cpu", "fused"), [(X86, "x86-64", False), (ARM, "cortex-a72", True)])
@pytest.mark.parametrize("batches", [False, True])
def test_other_processors_get_code_of_llvm(batches: bool, triple: str, cpu: str, fused: bool, tmp_path: Path) -> None:
    graph = program(3, 80)
    texts = ir.modules(*planned(graph), 4, batches=batches, fused=fused, registers=0)
    assert not any("module asm" in text for text in texts)
    done = assembled(texts, triple, tmp_path, cpu)
    assert done.returncode == 0, done.stderr


ALL = {"avx2", "fma", "avx512f", "avx512vl"}


@pytest.mark.parametrize(("triple", "features", "registers"), [
    (X86, ALL, 32),
    (X86, ALL - {"avx512vl"}, 16),
    (X86, ALL - {"fma"}, 0),
    (X86, {"avx2", "fma"}, 16),
    (X86, {"avx2"}, 0),
    (X86, {"fma"}, 0),
    (ARM, ALL, 0),
    ("x86_64-apple-darwin", ALL, 0),
    ("x86_64-pc-windows-msvc", ALL, 0),
])  # fmt: skip
def test_which_processors_get_our_assembly(
    triple: str, features: set[str], registers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llvmlite.binding.get_process_triple", lambda: triple)
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: dict.fromkeys(features, True))
    assert jit.vector_registers.__wrapped__() == registers


def test_a_line_of_another_form_is_not_given_to_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    if not jit.vector_registers():
        pytest.skip("no assembly for it")
    graph = trace(lambda q: [q[0].sin() * q[1], q[0] / q[1]], {"q": 2})
    q = np.random.default_rng(0).normal(size=(9, 2))
    expected = build(graph, cache=False)(q)
    for kind in (assembly.Single, Rows):
        monkeypatch.setattr(kind, "before", lambda self, written=kind.before: [*written(self), "vdance %xmm0"])
    with pytest.warns(PerformanceWarning, match="vdance"):
        found = build(graph, cache=False)(q)
    np.testing.assert_array_equal(found, expected)


def evaluated(graph: Graph, given: list[np.ndarray]) -> list[np.ndarray]:
    """The graph in NumPy, operation by operation."""
    results = graph(**dict(zip(SIZES, given, strict=True)))
    batch = given[0].shape[0]

    def stacked(value: object) -> np.ndarray:
        if isinstance(value, tuple):
            return np.stack([stacked(part) for part in value], axis=1)
        return np.broadcast_to(np.asarray(value, float), (batch,))

    return [stacked(value) for value in results.values()]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("registers", "fused"), [(32, True), (16, True), (0, True), (0, False)])
def test_random_programs_against_numpy(registers: int, fused: bool, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On every set of instructions that this processor has, and on those without fused operations."""
    if registers > jit.vector_registers():
        pytest.skip("not on this processor")
    monkeypatch.setattr(jit, "vector_registers", lambda: registers)
    monkeypatch.setattr(jit, "has_fma", lambda: fused)
    rng = np.random.default_rng(seed)
    graph = program(100 + seed, int(rng.integers(45, 160)))
    kernel = build(graph, cache=False, lanes=4 if registers < 32 else 8)
    given = [array.clip(-3, 3) for array in map(np.nan_to_num, inputs(21, seed))]
    expected = evaluated(graph, given)
    bent = evaluated(graph, [array * (1 + 1e-13) for array in given])
    for found, right, other in zip(kernel(*given), expected, bent, strict=True):
        allowed = 1e-12 * (1 + np.abs(right)) + 100 * np.abs(other - right)  # some programs magnify rounding
        assert (np.abs(found - right) <= allowed).mean() > 0.99  # a sign may change at zero
        assert np.isfinite(found).all()
