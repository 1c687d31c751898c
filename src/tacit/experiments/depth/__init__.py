"""Experiments of the paper `depth`: deep matrix completion and loss of plasticity (ICLR 2026)."""
