"""Speed against peers: `python -m benchmarks [NAME…]`, one JSON line for each workload."""
