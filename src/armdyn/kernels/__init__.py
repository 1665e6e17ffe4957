"""Kernels: expression graph -> LLVM IR -> machine code -> NumPy function. No compiler is needed on the user's machine.

From a graph to a function, in the order of the work:

    kernel          Kernel, and `build`: the way from a graph to it. `composite`: several of them as one function.
    ports           arguments and results: names, shapes, the nodes behind them; what leads to a kernel's code
    straight/       straight-line code, which has every operation of a graph once
        sums        sums in the order in which their terms are ready
        schedule    the order of operations, and products that are fused with sums
        events      operations, sines and stores in the order in which they are written
        operations  instructions of one operation
        budget      which values are in registers, which in memory, and where that lies
        single      code for one sample; blocks: for batches; sincos: sines and cosines; scatter: large results
        emit        all modules of a kernel
    looped/         code with loops over links, for robots of any size, and the tables that make it one robot's
    call/           how Python calls machine code
        single      one sample: a builtin function; batch: plain batches; loop: all batches, through NumPy
        functions   builtin functions and ufuncs around machine code; arrays: their fields in memory
        batches     code for batches, made when the first batch comes
        general     all other calls: keywords, threads, errors that name the argument
        interpreted the graph itself, where there is no LLVM
    machine         what code generation knows of a processor
    ir_writer, loop_writer, streaming
                    text of LLVM IR: instructions, loops, rows of results
    procedure       loops and branches over arrays, for algorithms that are no graph
    jit             IR to object code, object code to functions in this process
    cache           object code and notes on disk; sources: the version they are valid for
    collector       Python's cycle collector rests while code is made
"""

from armdyn.kernels.composite import Composite, Program
from armdyn.kernels.kernel import Kernel, build, interpreted, restored

__all__ = ["Composite", "Kernel", "Program", "build", "interpreted", "restored"]
