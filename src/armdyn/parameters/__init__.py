"""Standard and base parameters, grouping, the regressor, physical consistency."""

from armdyn.parameters.grouping import grouped
from armdyn.parameters.standard import (
    StandardParameters,
    parameter_names,
    standard_parameters,
    with_links,
    with_standard_parameters,
)

__all__ = [
    "StandardParameters",
    "grouped",
    "parameter_names",
    "standard_parameters",
    "with_links",
    "with_standard_parameters",
]
