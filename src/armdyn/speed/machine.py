"""Facts that the figures depend on: processor, features, versions. Nothing that identifies the machine."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path

from armdyn.kernels import jit

FEATURES = {"sse2": "SSE2", "avx": "AVX", "avx2": "AVX2", "fma": "FMA", "avx512f": "AVX-512", "neon": "NEON"}
PACKAGES = ("numpy", "llvmlite", "pin", "mujoco", "casadi", "roboticstoolbox-python")


def facts() -> dict[str, str]:
    """Names and values in the order in which they are printed."""
    from armdyn import __version__

    found = {
        "processor": _processor(),
        "vectors": _features(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "armdyn": __version__,
    }
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.exists() else []
    fields = [[part.strip() for part in line.split(":", 1)] for line in lines if ":" in line]
    known = dict(reversed(fields))  # of the first core
    model = known.get("model name") or platform.processor() or platform.machine()
    if "cpu family" in known and "model" in known:
        model += f" (family {known['cpu family']}, model {known['model']})"
    target = jit.machine_description().splitlines()[1]
    return f"{model}, {target}"


def _features() -> str:
    enabled = set(jit.machine_description().replace("\n", ",").split(","))
    return ", ".join(title for name, title in FEATURES.items() if f"+{name}" in enabled) or "unknown"
