"""Every form of line that our assembly is made of.

LLVM ends the process at a line it cannot assemble, and it assembles what the processor does not have. So nothing is
given to it but lines of these forms, each of which the tests have assembled with small and large numbers. The sign #
stands for a number: of a register, a displacement or an immediate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

NEXT = r"\0A"
"""Between lines, in a module."""
_NUMBERS = b"-#0123456789"
_ADDRESSES = ("%rax", "%rcx", "%rdx", "%rsi", "%rdi", "%rbx", "%r#")
_FUSED = (f"{kind}{order}" for kind in ("vfmadd", "vfmsub", "vfnmadd") for order in (132, 213, 231))
_MEMORY = (*(f"#({base})" for base in (*_ADDRESSES, "%rsp")), ".Lconstants+#(%rip)")
_OPERATIONS = ("vadd", "vsub", "vmul", "vdiv", *_FUSED)
_FRAME = (".text", ".p2align #", ".Lblock:", "push %rbp", "pop %rbp", "mov %rsp, %rbp", "and $#, %rsp", "sub $#, %rsp",
          "lea #(%rbp), %rsp", "mov $#, %ecx", "mov #(%rbp), %rax", "mov #(%rdi), %rax",
          "call sines@PLT", "call all_sines@PLT", "addq $#, #(%rsp)", "decq #(%rsp)", "jg .Lblock", "vzeroupper",
          "ret", ".Lchunk:", ".Lfirst:", "jg .Lchunk", "jg .Lfirst", "cmp %rcx, %rax", "cmovg %rcx, %rax",
          "imul $#, %rcx, %rcx", "shr $1, %rcx", "sub %rax, #(%rsp)", "lea .Lplaces+#(%rip), %rdx",
          "call spread@PLT")  # fmt: skip
LOW_ONLY = ("vinsertf128", "vextractf128", "vblendvpd", "vmaskmovpd")
"""Instructions that know the first sixteen registers only."""
_HIGH = {wide: re.compile(rf"{start}mm(?:1[6-9]|[23]\d)[^\\]*")
         for wide, start in ((False, ""), (True, rf"(?:{'|'.join(LOW_ONLY)})[^\\]*"))}  # fmt: skip


def forms(wide: bool) -> Iterator[str]:
    """All forms of code for AVX2, or for AVX-512 (wide)."""
    yield from _FRAME
    for name in ("single", "rows"):
        yield from (f".globl {name}", f".type {name},@function", f"{name}:")
    for base in _ADDRESSES:
        yield from (f"push {base}", f"pop {base}", f"mov {base}, #(%rsp)", f"mov #(%rsp), {base}")
        yield f"add $#, {base}"
        yield from (f"lea .Lconstants+#(%rip), {base}", f"lea #(%rsp), {base}")
    yield from ("vmovupd .Lmask+#(%rip), %ymm#", "vmovapd #(%rsp), %ymm#", "vmovapd %ymm#, #(%rsp)")
    for place in (*_ADDRESSES, "%rsp"):
        for move, register in (("vmovsd", "%xmm#"), ("vmovupd", "%xmm#"), ("vmovupd", "%ymm#")):
            yield from (f"{move} #({place}), {register}", f"{move} {register}, #({place})")
        yield f"vmaskmovpd #({place}), %ymm#, %ymm#"
    yield from _arithmetic("sd", "%xmm#", ("%xmm#", *_MEMORY), wide)
    yield "vmovsd .Lconstants+#(%rip), %xmm#"
    yield "vsqrtsd %xmm#, %xmm#, %xmm#"
    yield from _block("%ymm#", 4, wide)
    if wide:
        yield from _block("%zmm#", 8, wide)


def _block(register: str, lanes: int, wide: bool) -> Iterator[str]:
    """Lines of code for several samples."""
    memory = (*_MEMORY, *([f"{place}{{1to{lanes}}}" for place in _MEMORY] if wide else []))
    yield from _arithmetic("pd", register, (register, *memory), wide)
    yield from (form for place in _MEMORY for form in (f"vmovapd {place}, {register}", f"vmovapd {register}, {place}"))
    yield from (f"vunpcklpd {register}, {register}, {register}", f"vunpckhpd {register}, {register}, {register}")
    yield f"vsqrtpd {register}, {register}"
    if wide:
        yield from (f"vbroadcastsd {place}, {register}" for place in _MEMORY)
    for base in _ADDRESSES:
        yield from (f"vmovupd #({base}), {register}", f"vmovupd {register}, #({base})", f"prefetcht0 #({base})")
        for part in ("f128", *(["f32x4"] if wide else [])):
            if part == "f32x4" or lanes == 4:
                yield from (f"vinsert{part} $#, #({base}), {register}, {register}",
                            f"vextract{part} $#, {register}, #({base})")  # fmt: skip


def _arithmetic(ending: str, register: str, sources: tuple[str, ...], wide: bool) -> Iterator[str]:
    """Lines of operations, and of those that look at a sign."""
    for source in sources:
        yield from (f"{operation}{ending} {source}, {register}, {register}" for operation in _OPERATIONS)
    yield f"vmovapd {register}, {register}"
    if wide:
        yield from (f"vcmp{ending} $#, {zero}, {register}, %k#" for zero in sources)
        yield f"vmovapd {register}, {register} {{%k#}}"
    else:
        yield from (f"vcmp{ending} $#, {zero}, {register}, {register}" for zero in sources)
        yield f"vblendvpd {register}, {register}, {register}, {register}"


def _bare(text: str) -> bytes:
    """Text without its numbers."""
    return text.encode().translate(None, _NUMBERS)


_KNOWN = {wide: frozenset(map(_bare, forms(wide))) for wide in (False, True)}


class UnknownForm(Exception):
    """A line of a form that is not known."""


def check(code: str, wide: bool) -> None:
    """Raises UnknownForm for lines of other forms."""
    if not _KNOWN[wide].issuperset(_bare(code).split(_bare(NEXT))):
        raise UnknownForm(next(line for line in code.split(NEXT) if _bare(line) not in _KNOWN[wide]))
    if found := _HIGH[wide].search(code):
        raise UnknownForm(found[0])
