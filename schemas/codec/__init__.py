"""Value codecs: a type compiled to a program, run over whole columns by kernels."""
