"""From a planned program to LLVM IR: straight-line code for one sample and for blocks of samples."""
