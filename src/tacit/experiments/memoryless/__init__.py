"""Experiments of the paper `memoryless`: temporal extrapolation (AISTATS 2022)."""
