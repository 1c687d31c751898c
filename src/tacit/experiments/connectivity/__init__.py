"""Experiments of the paper `connectivity`: low-rank change in trained RNNs (NeurIPS 2020)."""
