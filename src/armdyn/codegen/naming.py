"""Names and texts of robot files, made safe for generated code.

Nothing a robot file says reaches generated code but through these functions: identifiers keep letters of a white list
only, texts keep what cannot end a comment or a string in any of the languages.
"""

from __future__ import annotations

import builtins
import keyword
import re

from armdyn.errors import ArmdynError
from armdyn.markup import safe_text

LONGEST_NAME = 40

C_WORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept bitand bitor bool catch char16_t
    char32_t char8_t class co_await co_return co_yield compl concept const_cast consteval constexpr constinit decltype
    delete dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr operator or
    or_eq private protected public reflexpr reinterpret_cast requires static_assert static_cast synchronized template
    this thread_local throw true try typeid typename typeof typeof_unqual using virtual wchar_t xor xor_eq fortran
    sin cos sqrt exp atan2 fabs main errno assert NULL EOF NAN INFINITY DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS HUGE
    math_errhandling signgam linux unix i386 vax sun near far huge interface small complex imaginary I""".split()  # noqa: SIM905
)
"""Keywords of C and C++, the functions generated code calls, and names that headers or compilers define as macros."""
C_MACROS = re.compile(r"(M|FP|MATH|HUGE|X|SNAN|DEC)_\w*|[A-Z]+_(MAX|MIN|DIG|EPSILON)")
PYTHON_WORDS = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "np", "jnp", "jax", "numpy"})
MATLAB_WORDS = frozenset(
    """break case catch classdef continue else elseif end for function global if otherwise parfor persistent return
    spmd switch try while do until endif endfor endwhile endfunction endswitch end_try_catch end_unwind_protect
    unwind_protect unwind_protect_cleanup sin cos sqrt exp atan2 abs sign select zeros numel error nargin pi i j Inf NaN
    eps ans methods properties events enumeration arguments""".split()  # noqa: SIM905
)
"""Keywords of MATLAB and Octave, and the functions that generated code calls."""
FILE_WORDS = frozenset(
    """con prn aux nul test all clean help install package edit_cache rebuild_cache m math stdio stdlib string float
    limits assert complex ctype errno fenv inttypes iso646 locale setjmp signal stdalign stdarg stdatomic stdbool
    stddef stdint stdnoreturn tgmath threads time uchar wchar wctype memory vector new version""".split()  # noqa: SIM905
) | {f"{port}{i}" for port in ("com", "lpt") for i in range(10)}
"""Devices of Windows, reserved targets of CMake, headers and modules that a generated file must not hide."""


def identifier(text: str, reserved: frozenset[str] = C_WORDS) -> str:
    """The text as an identifier of C, C++ and Python: ASCII letters, digits and single underscores, no keyword.

    >>> identifier("joint 1 (left)"), identifier("2nd"), identifier("double"), identifier("ü; rm -rf *")
    ('joint_1_left', 'x2nd', 'double_', 'rm_rf')
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text)[:LONGEST_NAME].strip("_") or "x"
    name = f"x{name}" if name[0].isdigit() else name
    return f"{name}_" if name in reserved or C_MACROS.fullmatch(name) else name


def file_stem(robot_name: str) -> str:
    """The robot's name as a prefix of functions and a name of files.

    >>> file_stem("Panda v2"), file_stem("../../etc/passwd"), file_stem("CON"), file_stem("math")
    ('panda_v2', 'etc_passwd', 'con_robot', 'math_robot')
    """
    name = re.sub(r"_+", "_", identifier(robot_name).lower()).strip("_")
    name = f"robot_{name}" if not name or not name[0].isalpha() else name
    return f"{name}_robot" if _is_reserved(name) else name


def checked_prefix(prefix: str) -> str:
    """A prefix that the user chose; one that cannot be a name is an error, not something to repair."""
    fine = re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*", prefix) and len(prefix) <= LONGEST_NAME
    if not fine or _is_reserved(prefix.lower()):
        raise ArmdynError(
            f"{safe_text(prefix)!r} cannot be a prefix" + (": the name is reserved" if fine else ""),
            where="export",
            expected=f"at most {LONGEST_NAME} letters and digits, with single underscores between, that begin with a "
            "letter",
            advice="For example panda_arm",
        )
    return prefix


def _is_reserved(name: str) -> bool:
    return name in FILE_WORDS or name in C_WORDS or name in PYTHON_WORDS


def c_comment(text: str) -> str:
    """The text for the inside of a C comment: it neither ends it, nor opens another, nor holds a trigraph.

    >>> c_comment("a */ b /* c ??/ d")
    'a * / b / * c ? ?/ d'
    """
    return _apart(safe_text(text), "*/", "/*", "??", "//")


def _apart(text: str, *pairs: str) -> str:
    for pair in pairs:
        while pair in text:
            text = text.replace(pair, f"{pair[0]} {pair[1]}")
    return text
