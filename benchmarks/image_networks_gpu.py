"""Images a second of a ResNet in training on a GPU, beside a plain PyTorch loop.

Ours is `descend` on `ImageBatches`: the whole step (drawing a batch, moving and mirroring it,
forward, backward, SGD with Nesterov momentum and weight decay) in one program. The peer is the loop
that people write: `torch.compile`, channels last, autocast to bfloat16, the same augmentation on
the device. Wall time between two lengths of a run, so that compiling does not count. The share of
the ceiling is of a large bfloat16 product in the same run. `--lanes` trains narrow networks side by
side and gives the ratio to one after the other.

    python -m benchmarks.image_networks_gpu --network resnet18
    python -m benchmarks.image_networks_gpu --network resnet18 --width 0.125 --lanes 8
    JAX_PLATFORMS=cpu python -m benchmarks.image_networks_gpu --width 0.0625 --steps 2 --batch 8
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.rate_rnn_gpu import least

MACS = {"resnet18": 0.556e9, "resnet34": 1.160e9, "resnet50": 1.297e9, "resnet101": 2.516e9}
"""Multiplications of one 32 × 32 image forwards, at full width; backwards takes twice as many."""


def images(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise: what is learnt does not matter here."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (count, 32, 32, 3)).astype(np.uint8), rng.integers(0, 10, count)


def ours(chosen: argparse.Namespace, lanes: int) -> Callable[[int], Any]:
    """A run of some steps with `lanes` networks."""
    import jax
    import optax

    from tacit.descent import Lanes, Stop, cosine, descend, lane_keys
    from tacit.models import ARITHMETICS, ResNet
    from tacit.problems import ImageBatches, Images

    pixels, labels = images(chosen.images)
    half = np.full(3, 0.5)
    problem = ImageBatches(Images.of(pixels, labels, mean=half, deviation=half), chosen.batch)
    depth = int(chosen.network.removeprefix("resnet"))
    arithmetic = replace(ARITHMETICS[chosen.precision], by_products=lanes > 1)
    made = {"classes": 10, "width": chosen.width, "arithmetic": arithmetic}
    keys = lane_keys(0, np.arange(lanes))
    starts = Lanes.stack([ResNet.random(depth, **made, key=key) for key in keys])
    method = optax.chain(
        optax.add_decayed_weights(5e-4),
        optax.trace(0.9, nesterov=True),
        optax.scale_by_learning_rate(cosine(0.1, 10_000)),
    )
    key = jax.random.key(1)
    return lambda steps: descend(starts, problem, method, stop=Stop(steps), key=key,
                                 progress=False).loss  # fmt: skip


def theirs(chosen: argparse.Namespace) -> Callable[[int], Any]:
    """A run of some steps of a compiled PyTorch network, channels last."""
    import torch

    torch.backends.cudnn.benchmark = True
    net = torch_resnet(chosen.network, chosen.width).to("cuda", memory_format=torch.channels_last)
    method = torch.optim.SGD(
        net.parameters(), 0.1, momentum=0.9, weight_decay=5e-4, nesterov=True, fused=True
    )
    forward = torch.compile(net, mode=chosen.torch_mode)
    pixels, labels = (torch.from_numpy(each).cuda() for each in images(chosen.images))
    pixels = pixels.permute(0, 3, 1, 2).contiguous()

    @torch.compile
    def drawn(rows: Any) -> Any:
        x = torch.nn.functional.pad(pixels[rows], (4, 4, 4, 4))
        move = torch.randint(0, 9, (2, len(rows), 1), device="cuda")
        y = (move[0] + torch.arange(32, device="cuda"))[:, None, :, None]
        z = (move[1] + torch.arange(32, device="cuda"))[:, None, None, :]
        n = torch.arange(len(rows), device="cuda")[:, None, None, None]
        c = torch.arange(3, device="cuda")[None, :, None, None]
        x = x[n, c, y, z]
        x = torch.where(torch.rand(len(rows), 1, 1, 1, device="cuda") < 0.5, x.flip(3), x)
        return ((x.float() / 255 - 0.5) / 0.5).to(memory_format=torch.channels_last)

    def step(rows: Any) -> Any:
        x = drawn(rows)
        with torch.autocast("cuda", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(forward(x), labels[rows])
        method.zero_grad(set_to_none=True)
        loss.backward()
        method.step()
        return loss

    def run(steps: int) -> float:
        loss = torch.zeros(())
        for _ in range(steps):
            loss = step(torch.randint(0, chosen.images, (chosen.batch,), device="cuda"))
        torch.cuda.synchronize()
        return float(loss.detach())

    return run


def torch_resnet(name: str, width: float) -> Any:
    """The same network in PyTorch: torchvision's with the stem of CIFAR, made here without it."""
    import torch
    from torch import nn

    from tacit.models._resnet import BLOCKS

    depth = int(name.removeprefix("resnet"))
    deep = depth >= 50

    class Block(nn.Module):
        def __init__(self, inputs: int, inner: int, stride: int) -> None:
            super().__init__()
            outputs = inner * (4 if deep else 1)
            shapes = ([(inputs, inner, 1, 1), (inner, inner, 3, stride), (inner, outputs, 1, 1)]
                      if deep else [(inputs, inner, 3, stride), (inner, inner, 3, 1)])  # fmt: skip
            parts: list[Any] = []
            for a, b, size, by in shapes:
                parts += [nn.Conv2d(a, b, size, by, size // 2, bias=False), nn.BatchNorm2d(b)]
                parts.append(nn.ReLU(inplace=True))
            self.body = nn.Sequential(*parts[:-1])
            same = stride == 1 and inputs == outputs
            self.around = nn.Identity() if same else nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )  # fmt: skip

        def forward(self, x: Any) -> Any:
            return torch.relu(self.body(x) + self.around(x))

    channels = first = max(1, round(64 * width))
    parts: list[Any] = [nn.Conv2d(3, first, 3, 1, 1, bias=False), nn.BatchNorm2d(first), nn.ReLU()]
    for stage, count in enumerate(BLOCKS[depth]):
        inner = max(1, round(64 * 2**stage * width))
        for place in range(count):
            parts.append(Block(channels, inner, 2 if stage and not place else 1))
            channels = inner * (4 if deep else 1)
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


def peak(size: int) -> float:
    """Operations a second of a bfloat16 product of size × size matrices."""
    import jax

    left = jax.numpy.asarray(np.random.default_rng(0).normal(size=(size, size)), "bfloat16")
    multiply = jax.jit(lambda a, b: a @ b)
    jax.block_until_ready(multiply(left, left))

    def work() -> None:
        found = left
        for _ in range(10):
            found = multiply(left, found)
        jax.block_until_ready(found)

    return 10 * 2.0 * size**3 / least(work)


def seconds_a_step(run: Callable[[int], Any], steps: int) -> dict[str, float]:
    """Wall seconds of a step, and of the first run with its compilation."""
    first = least(lambda: run(steps), 1)
    short, long = least(lambda: run(steps), 2), least(lambda: run(3 * steps), 2)
    return {"first": first, "step": (long - short) / (2 * steps)}


def main() -> None:
    """One JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="resnet18", choices=tuple(MACS))
    parser.add_argument("--width", type=float, help="1 unless told; needed on a CPU")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--images", type=int, default=50_000)
    parser.add_argument("--steps", type=int, default=200, help="of the shorter run")
    parser.add_argument("--lanes", type=int, default=1)
    parser.add_argument("--precision", default="bfloat16")
    parser.add_argument("--torch-mode", help="of torch.compile, such as reduce-overhead")
    chosen = parser.parse_args()
    import jax

    device = jax.devices()[0]
    if chosen.width is None and device.platform == "cpu":
        print("image_networks_gpu: skipped, JAX sees no GPU (say --width for a small run here)",
              file=sys.stderr)  # fmt: skip
        return
    chosen.width = chosen.width or 1.0
    found = {"ours": seconds_a_step(ours(chosen, 1), chosen.steps)}
    if chosen.lanes > 1:
        found["lanes"] = seconds_a_step(ours(chosen, chosen.lanes), chosen.steps)
    try:
        import torch
    except ImportError:
        torch = None
    if torch is not None and torch.cuda.is_available():
        found["torch"] = seconds_a_step(theirs(chosen), chosen.steps)
    top = peak(8192 if device.platform != "cpu" else 512)
    work = 6 * MACS[chosen.network] * chosen.width**2 * chosen.batch
    step = found["ours"]["step"]
    line = {
        "workload": f"{chosen.network}, width {chosen.width:g}, batch {chosen.batch}, "
        f"{chosen.precision}",
        "unit": "wall seconds",
        "device": device.device_kind,
        "images_a_second": {
            name: round((chosen.lanes if name == "lanes" else 1) * chosen.batch / each["step"])
            for name, each in found.items()
        },
        "first_run": {name: round(each["first"], 1) for name, each in found.items()},
        "ratio_torch": round(found["torch"]["step"] / step, 2) if "torch" in found else None,
        "ratio_lanes": round(chosen.lanes * step / found["lanes"]["step"], 2)
        if "lanes" in found
        else None,
        "tflops": round(work / step / 1e12, 3),
        "share_of_peak": round(work / step / top, 3),
        "measured_at": time.strftime("%Y-%m-%d"),
    }
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
