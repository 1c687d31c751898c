"""Run the benchmarks named on the command line, or all, each in a process of its own."""

import subprocess
import sys

BENCHMARKS = (
    "lowdim_adam",
    "depth_fig1",
    "depth_fig3",
    "depth_fig10",
    "completion",
    "identification",
    "checkpoints",
    "own_models",
    "growth",
    "flow_diffeqsolve",
    "gru_training",
    "gru_many_seeds",
    "gru_gpu",
    "kernel_training",
    "rate_rnn",
    "rate_rnn_gpu",
    "image_networks_gpu",
)


def main() -> int:
    names = sys.argv[1:] or BENCHMARKS
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(
            f"benchmarks: {unknown[0]!r} is not known, there are {', '.join(BENCHMARKS)}",
            file=sys.stderr,
        )
        return 2
    codes = [subprocess.call([sys.executable, "-m", f"benchmarks.{name}"]) for name in names]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
