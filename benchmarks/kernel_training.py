"""Wide linear RNNs: a step of training at n = 1000, and the tangent kernel of 500 sequences.

The step: n = 1000 hidden units, T = 10, 50 sequences, full batch, plain gradient descent. Peers in
PyTorch: back-propagation through time as one writes it, a loop over the time steps of all
sequences at once, and the same compiled. Ours goes through the impulse response: T products of W
with a vector there and back, and an update of W of rank T.

The kernel: between 500 sequences and themselves at n = 1000. The peer is the empirical kernel by
Jacobians (`torch.func.jacrev` of one sequence after another), timed on a few sequences, whose
inner products are then timed for all pairs and scaled. The gram alone is compared with the
Jacobian of the impulse response at n = 2000.
"""

import sys

from benchmarks._measure import best_of, cpu_seconds, pin, report

WIDTH, LAGS, SEQUENCES, RATE, NU = 1000, 10, 50, 1e-4, 0.3
STEPS, PEER_STEPS = 40, 5
KERNEL_SEQUENCES, JACOBIAN_SEQUENCES = 500, 2


def start(width: int, sequences: int, seed: int = 0):
    """Parameters and data in float64, the same for us and the peers."""
    import numpy as np

    rng = np.random.default_rng(seed)
    W = rng.normal(0, np.sqrt(NU), (width, width))
    F, C = rng.normal(size=(width, 1)), rng.normal(size=(1, width))
    x = rng.normal(size=(sequences, LAGS, 1))
    y = rng.normal(0, 0.3, size=(sequences, LAGS, 1))
    return W, F, C, x, y


class Ours:
    """tacit: the gradient of `SequenceLoss` in a compiled step."""

    def __init__(self, dtype: str) -> None:
        import functools

        import jax

        from tacit.models import ScaledLinearRNN
        from tacit.problems import SequenceLoss

        W, F, C, x, y = (part.astype(dtype) for part in start(WIDTH, SEQUENCES))
        self.first = ScaledLinearRNN(W, F, C)
        problem = SequenceLoss.of(x, y)
        self.wide = dtype == "float64"

        @functools.partial(jax.jit, donate_argnums=0)
        def step(model):
            slope = jax.grad(problem.loss)(model)
            return jax.tree.map(lambda leaf, change: leaf - RATE * change, model, slope)

        self.step = step

    def run(self, steps: int = STEPS):
        import jax

        with jax.enable_x64(self.wide):
            model = jax.tree.map(lambda leaf: leaf.copy(), self.first)
            for _ in range(steps):
                model = self.step(model)
            return jax.block_until_ready(model)


class ThroughTime:
    """PyTorch: the recursion itself, all sequences at once."""

    def __init__(self, dtype: str, *, compiled: bool) -> None:
        import torch

        parts = start(WIDTH, SEQUENCES)
        self.parts = [torch.tensor(part.astype(dtype)) for part in parts]

        def loss(W, F, C, x, y):
            h = torch.zeros(SEQUENCES, WIDTH, dtype=x.dtype)
            total = 0.0
            for t in range(LAGS):
                h = h @ W.T / WIDTH**0.5 + x[:, t] @ F.T
                total = total + ((h @ C.T / WIDTH**0.5 - y[:, t]) ** 2).sum() / 2
            return total

        self.loss = torch.compile(loss) if compiled else loss

    def run(self, steps: int = PEER_STEPS):
        import torch

        W, F, C = (part.clone().requires_grad_() for part in self.parts[:3])
        optimiser = torch.optim.SGD([W, F, C], lr=RATE)
        for _ in range(steps):
            optimiser.zero_grad()
            self.loss(W, F, C, *self.parts[3:]).backward()
            optimiser.step()
        return W, F, C


def agreement() -> float:
    """The largest difference between our parameters and PyTorch's after some steps."""
    import numpy as np

    ours = Ours("float64").run(PEER_STEPS)
    theirs = ThroughTime("float64", compiled=False).run()
    pairs = zip((ours.W, ours.F, ours.C), theirs, strict=True)
    return float(max(np.abs(np.asarray(a) - b.detach().numpy()).max() for a, b in pairs))


def training(dtype: str) -> None:
    ours = Ours(dtype)
    cold = cpu_seconds(ours.run)
    warm = best_of(ours.run, 3)
    peers = {}
    for name, compiled in (("plain PyTorch loop", False), ("compiled PyTorch loop", True)):
        peer = ThroughTime(dtype, compiled=compiled)
        peer.run()  # compilation
        peers[name] = best_of(peer.run, 3) * STEPS / PEER_STEPS
    extra = {}
    if dtype == "float64":
        extra["largest difference to PyTorch after 5 steps"] = agreement()
    report(
        f"{STEPS} steps of a linear RNN, n = {WIDTH}, T = {LAGS}, N = {SEQUENCES}, {dtype}",
        cold=cold,
        warm=warm,
        peers=peers,
        ours_ms_a_step=round(1e3 * warm / STEPS, 3),
        **extra,
    )


def empirical_kernel() -> None:
    import torch

    from tacit.theory.kernel import finite_width_gram, toeplitz

    W, F, C, x, _ = start(WIDTH, KERNEL_SEQUENCES)

    def ours():
        gram = finite_width_gram(W, F, C, LAGS)
        columns = toeplitz(x).transpose(1, 0, 2).reshape(LAGS, -1)
        return columns.T @ gram @ columns

    w, f, c = (torch.tensor(part) for part in (W, F, C))
    inputs = torch.tensor(x)

    def outputs(parameters, one):
        w, f, c = parameters
        h, found = torch.zeros(WIDTH, dtype=one.dtype), []
        for t in range(LAGS):
            h = w @ h / WIDTH**0.5 + f @ one[t]
            found.append(c @ h / WIDTH**0.5)
        return torch.cat(found)

    def jacobian(place):
        parts = torch.func.jacrev(outputs)((w, f, c), inputs[place])
        return torch.cat([part.reshape(LAGS, -1) for part in parts], dim=1)

    def some():
        return torch.cat([jacobian(place) for place in range(JACOBIAN_SEQUENCES)])

    rows = some()
    jacobians = best_of(some) * KERNEL_SEQUENCES / JACOBIAN_SEQUENCES
    pairs = best_of(lambda: rows @ rows.T) * (KERNEL_SEQUENCES / JACOBIAN_SEQUENCES) ** 2
    part = ours()[: LAGS * JACOBIAN_SEQUENCES, : LAGS * JACOBIAN_SEQUENCES]
    seconds = best_of(ours, 3)
    report(
        f"tangent kernel of {KERNEL_SEQUENCES} sequences, n = {WIDTH}, T = {LAGS}",
        cold=seconds,
        warm=seconds,
        peers={"Jacobians in PyTorch": jacobians + pairs},
        largest_difference=float(abs(part - (rows @ rows.T).numpy()).max()),
    )


def gram_alone(width: int = 2000) -> None:
    import numpy as np
    import torch

    from tacit.theory.kernel import finite_width_gram

    W, F, C, *_ = start(width, 1)
    w, f, c = (torch.tensor(part) for part in (W, F, C))

    def response(parameters):
        w, f, c = parameters
        state, found = f, []
        for _ in range(LAGS):
            found.append((c @ state / width**0.5)[0, 0])
            state = w @ state / width**0.5
        return torch.stack(found)

    def by_jacobian():
        parts = torch.func.jacrev(response)((w, f, c))
        rows = torch.cat([part.reshape(LAGS, -1) for part in parts], dim=1)
        return (rows @ rows.T).numpy()

    gap = float(np.abs(finite_width_gram(W, F, C, LAGS) - by_jacobian()).max())
    seconds = best_of(lambda: finite_width_gram(W, F, C, LAGS), 3)
    report(
        f"finite_width_gram, n = {width}, T = {LAGS}",
        cold=seconds,
        warm=seconds,
        peers={"Jacobian of the response in PyTorch": best_of(by_jacobian)},
        largest_difference=gap,
    )


def curves(steps: int = 100_000, counts: int = 1000) -> None:
    """1,000 step counts up to 100,000 in closed form, against taking the steps in NumPy."""
    import numpy as np

    from tacit.theory.kernel import lag_weights, learning_curve, toeplitz

    _, _, _, x, y = start(2, SEQUENCES)
    rho = lag_weights(LAGS, nu_w=NU)
    asked = np.linspace(steps / counts, steps, counts).astype(int)

    def ours():
        return learning_curve(rho, x, y, rate=RATE, steps=asked)

    def iterated():
        A = np.concatenate([toeplitz(one).T for one in x])
        M, b = RATE * rho[:, None] * (A.T @ A), RATE * rho * (A.T @ y.ravel())
        L = np.zeros(LAGS)
        for _ in range(steps):
            L = L - M @ L + b
        return L

    gap = float(np.abs(ours().response[-1, :, 0, 0] - iterated()).max())
    seconds = best_of(ours, 3)
    report(
        f"learning_curve, {asked.size} step counts to {steps:,}, N = {SEQUENCES}, T = {LAGS}",
        cold=seconds,
        warm=seconds,
        peers={"steps taken in NumPy": best_of(iterated)},
        largest_difference=gap,
    )


def main() -> None:
    pin()
    import torch

    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}", file=sys.stderr)
    for dtype in ("float64", "float32"):
        training(dtype)
    empirical_kernel()
    gram_alone()
    curves()


if __name__ == "__main__":
    main()
