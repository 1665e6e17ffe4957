"""The five source texts, reproduced: every table, figure and worked example, regenerated and judged."""

from __future__ import annotations
