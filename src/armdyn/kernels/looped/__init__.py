"""Code with loops over the links of a robot: a recursion traced once, the numbers of the links in a table.

`recursion` states what a recipe is and traces it; `module` writes its LLVM assembly, with `batch` around it for many
samples, `tiles` for matrices, and `memory` for places in scratch memory; `kernel` builds the code for one robot.
"""
