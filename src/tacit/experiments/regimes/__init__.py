"""regimes (ours): one map that joins the kernel regime with the rich one."""
