"""Standard and base parameters, grouping, the regressor, physical consistency."""

from armdyn.parameters.base import BaseParameters, base_parameters
from armdyn.parameters.consistency import PhysicalConsistency, physical_consistency
from armdyn.parameters.grouping import grouped
from armdyn.parameters.link_end import link_end_names, link_end_parameters, link_end_regressor
from armdyn.parameters.other_conventions import PARAMETER_CONVENTIONS, convert_parameters
from armdyn.parameters.regressor import regressor
from armdyn.parameters.standard import (
    StandardParameters,
    parameter_names,
    standard_parameters,
    with_links,
    with_standard_parameters,
)

__all__ = [
    "PARAMETER_CONVENTIONS",
    "BaseParameters",
    "PhysicalConsistency",
    "StandardParameters",
    "base_parameters",
    "convert_parameters",
    "grouped",
    "link_end_names",
    "link_end_parameters",
    "link_end_regressor",
    "parameter_names",
    "physical_consistency",
    "regressor",
    "standard_parameters",
    "with_links",
    "with_standard_parameters",
]
