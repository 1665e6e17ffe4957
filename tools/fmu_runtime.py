"""Compile the C sources of FMUs to LLVM IR, from which `armdyn export` makes binaries without a compiler.

Needs ziglang (its clang) and the headers of FMPy. Run it whenever a file in codegen/fmu changes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import fmpy
import llvmlite.binding as llvm

from armdyn.codegen.fmu_binary import FOLDER, digest

HEADERS = Path(fmpy.__file__).parent / "c-code"
OPTIONS = [
    *("-target", "x86_64-linux-gnu", "-std=c99", "-O0", "-g0", "-Xclang", "-disable-O0-optnone", "-fno-sanitize=all"),
    *("-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fno-math-errno", "-ffp-contract=off"),
    *("-S", "-emit-llvm"),
]


def compiled(version: int) -> str:
    """The IR of one version of FMI, variables in registers, without what depends on the version of LLVM."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.ll"
        command = [sys.executable, "-m", "ziglang", "cc", *OPTIONS, f"-I{HEADERS}", str(FOLDER / f"fmi{version}.c")]
        subprocess.run([*command, "-o", str(made)], check=True, capture_output=True)
        text = made.read_text()
    text = re.sub(r"^(attributes|!|;|source_filename|target) ?.*\n", "", text, flags=re.M)
    text = re.sub(r"( #\d+)(?=[ \n])|, ![a-z.]+ !\d+", "", text)
    module = llvm.parse_assembly(text)
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    builder = llvm.create_pass_builder(_machine(), llvm.create_pipeline_tuning_options(0))
    passes.run(module, builder)
    text = re.sub(
        r" (noundef|nuw|nneg|disjoint|samesign|writeonly|readonly|captures\(none\)|noalias|#\d+)(?=[ ,)\n])",
        "",
        str(module),
    )
    left_out = re.compile("attributes|;|source_filename")
    return "\n".join(line.split(" ; preds")[0].rstrip() for line in text.splitlines() if not left_out.match(line))


def _machine() -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine()


if __name__ == "__main__":
    for version in (2, 3):
        text = (
            f"; Compiled from fmi{version}.c by tools/fmu_runtime.py. Sources: {digest(version)}\n{compiled(version)}\n"
        )
        (FOLDER / f"fmi{version}.ll").write_text(re.sub(r"\n{2,}", "\n\n", text))
