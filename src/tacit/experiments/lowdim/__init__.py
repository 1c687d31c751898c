"""Experiments of the paper `lowdim`: low-dimensional state spaces (ICLR 2023)."""
