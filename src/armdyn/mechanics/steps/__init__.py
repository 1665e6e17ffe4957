"""Recursions at one link, over any scalar: what the formulations and the looped code of `dynamics` both call.

Each module has the equations of one recursion, one function per numbered equation or group of them. A formulation walks
over the links of a robot and calls them; looped code traces them once, at a link whose numbers are in a table.
"""
