#!/usr/bin/python3
"""Single operators in PyTorch, as a contestant of `isobar bench operators`.

"case JSON" names an operator of isobar's catalogue with all its arguments and the shapes of its inputs; it is answered
with "ok" when PyTorch has the same, else "none". Then "forward N" and "backward N" are answered with N times in
seconds. Shapes are channels-last as isobar's; operators on images get them with channels first, in the layout asked for.
"""
import argparse
import json
import math
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch_networks import parse


class Unknown(Exception):
    """PyTorch has no operator that is the same."""


def one(value):
    """A number for all axes, or one per axis."""
    value = value if isinstance(value, list) else [value]
    return value[0] if len(value) == 1 else tuple(value)


def padding(a, kernel):
    """As nn's layers want it; what they cannot do is not known here."""
    given = a.get("padding", "valid")
    if a.get("padding_after", given) != given:
        raise Unknown
    if given == "valid":
        return 0
    if given == "same":
        sizes = kernel if isinstance(kernel, tuple) else (kernel,)
        if any(k % 2 == 0 for k in sizes) or one(a.get("dilation", 1)) != 1:
            raise Unknown
        return one([k // 2 for k in sizes])
    return one(given)


def conv(a, x):
    kernel, axes = one(a["kernel"]), x.dim() - 2
    layer = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[axes]
    return layer(x.shape[1], a["filters"], kernel, one(a["stride"]), padding(a, kernel), one(a["dilation"]),
                 a["groups"], a["bias"])


def deconv(a, x):
    kernel, axes, stride = one(a["kernel"]), x.dim() - 2, one(a["stride"])
    layer = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}[axes]
    extra = one(a["output_padding"])
    if a.get("padding") == "same":
        if not isinstance(kernel, int) or not isinstance(stride, int) or kernel % 2 == 0 or stride > 2:
            raise Unknown
        extra = stride - 1
    return layer(x.shape[1], a["filters"], kernel, stride, padding(a, kernel), extra, a["groups"], a["bias"],
                 one(a["dilation"]))


def pool(kind):
    def make(a, x):
        window, axes = one(a["window"]), x.dim() - 2
        if kind == "avg":
            layer = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}[axes]
            if one(a["dilation"]) != 1:
                raise Unknown
            return layer(window, one(a["stride"]), padding(a, window), a["ceil"], a["include_padding"])
        layer = {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}[axes]
        return layer(window, one(a["stride"]), padding(a, window), one(a["dilation"]), ceil_mode=a["ceil"])

    return make


def global_pool(a, x):
    axes = tuple(range(2, x.dim()))
    kind = a["kind"]
    if kind not in ("average", "max"):
        raise Unknown
    return (lambda v: v.mean(axes)) if kind == "average" else (lambda v: v.amax(axes))


def batch_norm(a, x):
    if a["frozen"] or not (a["scale"] and a["shift"]):
        raise Unknown
    layers = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}
    return layers[x.dim()](x.shape[1], a["eps"], a["momentum"])


def lrn(a, x):
    if a["region"] == "across":
        return nn.LocalResponseNorm(a["size"], a["alpha"], a["beta"], a["k"])
    size = a["size"]
    return lambda v: v * (a["k"] + a["alpha"] * F.avg_pool2d(v * v, size, 1, size // 2)).pow(-a["beta"])


def resize(a, x):
    modes = {"nearest": "nearest", "linear": {3: "linear", 4: "bilinear", 5: "trilinear"}[x.dim()]}
    if a["kind"] not in modes or a["coordinates"] not in ("half_pixel", "align_corners") or a.get("scales"):
        raise Unknown
    aligned = None if a["kind"] == "nearest" else a["coordinates"] == "align_corners"
    size = tuple(a["size"]) or None if a.get("size") else None
    factor = None if size else one(a["factor"])
    return lambda v: F.interpolate(v, size=size, scale_factor=factor, mode=modes[a["kind"]], align_corners=aligned)


IMAGES = {"conv": conv, "deconv": deconv, "max_pool": pool("max"), "average_pool": pool("avg"),
          "global_pool": global_pool, "batch_norm": batch_norm, "lrn": lrn, "resize": resize}


def attention(a, q, k, v):
    if a["causal"] and q.shape[1] != k.shape[1]:
        raise Unknown
    heads, width = a["heads"], q.shape[-1] // a["heads"]
    later = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool).triu(1) if a["causal"] else None

    def run(*qkv):
        q, k, v = (t.view(t.shape[0], t.shape[1], heads, -1).transpose(1, 2) for t in qkv)
        weights = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(width))
        weights = weights if later is None else weights.masked_fill(later, -math.inf)
        return (weights.softmax(-1) @ v).transpose(1, 2).reshape(qkv[0].shape[0], qkv[0].shape[1], -1)

    return run


def matmul(a, x, y):
    turn = lambda t, flag: t.transpose(-2, -1) if flag else t  # noqa: E731
    return lambda x, y: turn(x, a["transpose_a"]) @ turn(y, a["transpose_b"])


class Lstm(nn.Module):
    def __init__(self, a, features):
        super().__init__()
        self.sequence = a["sequence"]
        self.lstm = nn.LSTM(features, a["units"], batch_first=True, bias=a["bias"],
                            bidirectional=a["direction"] == "bidirectional")

    def forward(self, x):
        y = self.lstm(x)[0]
        return y if self.sequence else y[:, -1]


def lstm(a, x, *states):
    if states or a["direction"] == "reverse" or (a["direction"] == "bidirectional" and not a["sequence"]):
        raise Unknown
    return Lstm(a, x.shape[-1])


def layer_norm(a, x):
    if not (a["scale"] and a["shift"]) or a["axis"] not in (-1, x.dim() - 1):
        raise Unknown
    return nn.LayerNorm(x.shape[-1], a["eps"])


def reduce(a, x):
    kinds = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin}
    if a["kind"] not in kinds:
        raise Unknown
    axes = tuple(a["axes"]) or tuple(range(x.dim()))
    return lambda v: kinds[a["kind"]](v, axes, a["keep"])


def class_loss(a, x, t):
    if a.get("ignore", -1) != -1 or a["reduction"] not in ("mean", "sum"):
        raise Unknown
    weights = torch.tensor(a["weights"], dtype=torch.float32) if a.get("weights") else None
    classes, scale = x.shape[-1], a["scale"]
    if weights is not None and a["reduction"] == "mean":
        raise Unknown
    target = t.reshape(-1).long()
    return lambda v, _: scale * F.cross_entropy(v.reshape(-1, classes), target, weights, reduction=a["reduction"])


def unary(run):
    return lambda a, x: run


def with_arguments(run):
    return lambda a, *x: lambda *v: run(a, *v)


def pad(a, x):
    if a["mode"] != "constant":
        raise Unknown
    widths = [n for pair in zip(reversed(a["before"]), reversed(a["after"])) for n in pair]
    return lambda v: F.pad(v, widths, value=a["value"])


def transpose(a, x):
    order = a["order"] or list(reversed(range(x.dim())))
    return lambda v: v.permute(order).contiguous()


def slices(a, x):
    if any(step < 1 for step in a["step"]):
        raise Unknown
    index = [slice(None)] * x.dim()
    for axis, begin, end, step in zip(a["axes"], a["begin"], a["end"], a["step"]):
        index[axis] = slice(begin, end, step)
    return lambda v: v[tuple(index)].contiguous()


OTHERS = {
    "add": with_arguments(lambda a, *v: sum(v[1:], v[0])),
    "attention": attention,
    "clip": with_arguments(lambda a, v: v.clamp(a["min"], a["max"])),
    "concat": with_arguments(lambda a, *v: torch.cat(v, a["axis"])),
    "dense": lambda a, x: nn.Linear(x.shape[-1], a["units"], a["bias"]),
    "div": with_arguments(lambda a, x, y: x / y),
    "dropout": lambda a, x: nn.Dropout(a["rate"]),
    "elu": lambda a, x: nn.ELU(a["alpha"]),
    "exp": unary(torch.exp),
    "gelu": lambda a, x: nn.GELU(approximate="tanh" if a["kind"] == "tanh" else "none"),
    "layer_norm": layer_norm,
    "leaky_relu": lambda a, x: nn.LeakyReLU(a["slope"]),
    "log": unary(torch.log),
    "log_softmax": unary(lambda v: v.log_softmax(-1)),
    "lstm": lstm,
    "mae": with_arguments(lambda a, x, y: F.l1_loss(x, y)),
    "matmul": matmul,
    "maximum": with_arguments(lambda a, x, y: torch.maximum(x, y)),
    "minimum": with_arguments(lambda a, x, y: torch.minimum(x, y)),
    "mse": with_arguments(lambda a, x, y: F.mse_loss(x, y)),
    "mul": with_arguments(lambda a, x, y: x * y),
    "pad": pad,
    "reduce": reduce,
    "relu": unary(torch.relu),
    "scale": with_arguments(lambda a, v: a["by"] * v),
    "sigmoid": unary(torch.sigmoid),
    "slice": slices,
    "softmax": unary(lambda v: v.softmax(-1)),
    "softmax_cross_entropy": class_loss,
    "softplus": unary(F.softplus),
    "sqrt": unary(torch.sqrt),
    "sub": with_arguments(lambda a, x, y: x - y),
    "tanh": unary(torch.tanh),
    "transpose": transpose,
}


class Case:
    """An operator with its inputs."""

    def __init__(self, question, layout):
        name, arguments = parse(question["spec"])
        self.inputs = [torch.empty(shape).uniform_(question["low"], question["high"]).requires_grad_()
                       for shape in question["shapes"]]
        if "last" in question:
            self.inputs[-1] = torch.randint(*question["last"], question["shapes"][-1])
        if name == "embedding":
            rows, width, numbers = arguments["rows"], arguments["width"], self.inputs[0]
            self.operator, self.inputs = nn.Embedding(rows, width), [numbers]
        elif name in IMAGES:
            if layout == "channels_last" and self.inputs[0].dim() not in (4, 5):
                raise Unknown
            x = self.inputs[0].detach().movedim(-1, 1).contiguous()
            if layout == "channels_last":
                x = x.contiguous(memory_format=torch.channels_last if x.dim() == 4 else torch.channels_last_3d)
            self.inputs[0] = x.requires_grad_()
            self.operator = IMAGES[name](arguments, x)
            if layout == "channels_last" and isinstance(self.operator, nn.Module):
                self.operator.to(memory_format=torch.channels_last if x.dim() == 4 else torch.channels_last_3d)
        elif name in OTHERS and layout == "plain":
            self.operator = OTHERS[name](arguments, *self.inputs)
        else:
            raise Unknown
        y = self.operator(*self.inputs)
        self.dy = torch.rand_like(y)
        self.differentiable = y.requires_grad
        wanted = [t for t in self.inputs if t.requires_grad]
        wanted += self.operator.parameters() if isinstance(self.operator, nn.Module) else []
        self.wanted = wanted

    def forward(self):
        begin = time.perf_counter()
        self.operator(*self.inputs)
        return time.perf_counter() - begin

    def backward(self):
        y = self.operator(*self.inputs)
        begin = time.perf_counter()
        torch.autograd.grad(y, self.wanted, self.dy, allow_unused=True)
        return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layout", choices=["plain", "channels_last"], default="plain")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--explain", action="store_true", help="say why a case is not known")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    print(f"ready torch {torch.__version__} {args.layout}", flush=True)
    case = None
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "case":
            try:
                case = Case(json.loads(rest), args.layout)
                if case.differentiable:
                    case.backward()
                print("ok", flush=True)
            except (Unknown, RuntimeError, KeyError, TypeError, ValueError) as problem:
                if args.explain:
                    print(f"torch_operators: {rest}: {type(problem).__name__} {problem}", file=sys.stderr)
                case = None
                print("none", flush=True)
        elif word in ("forward", "backward") and case:
            run = case.forward if word == "forward" else case.backward
            print(" ".join(f"{run():.9f}" for _ in range(int(rest))), flush=True)
        else:
            sys.exit(f"torch_operators: '{line.strip()}' is none of 'case JSON', 'forward N' and 'backward N'")


if __name__ == "__main__":
    main()
