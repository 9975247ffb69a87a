"""Analyses of attention, sparsity and decoding time, for `discsum analyze`."""
