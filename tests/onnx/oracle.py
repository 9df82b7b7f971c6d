#!/usr/bin/env python3
"""Runs exported networks in PyTorch, in double precision, and compares loss and weight gradients with ours.

oracle.py FOLDER TOLERANCE: every sub-folder is a network and holds one folder per start of its weights, with model.onnx
(up to what the loss reads), case.json (loss nodes, inputs, what we computed) and raw float32 files. A wrong gradient is
wrong from every start; where an activation lies so near a kink that rounding decides its side, another start is tried.
Prints one line per network; exit code 1 when one disagrees from every start.
"""
import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
torch.set_num_threads(2)


def spatial_pads(pads):
    """ONNX pads [before..., after...] as torch.nn.functional.pad wants them: last axis first."""
    half = len(pads) // 2
    return [p for axis in reversed(range(half)) for p in (pads[axis], pads[half + axis])]


def conv(a, x, w, b=None):
    n = x.dim() - 2
    x = F.pad(x, spatial_pads(a.get("pads", [0] * (2 * n))))
    f = [F.conv1d, F.conv2d, F.conv3d][n - 1]
    return f(x, w, b, stride=a.get("strides", [1] * n), dilation=a.get("dilations", [1] * n), groups=a.get("group", 1))


def conv_transpose(a, x, w, b=None):
    """Without padding, then cut to the extents the attributes give."""
    n = x.dim() - 2
    f = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d][n - 1]
    stride, dilation = a.get("strides", [1] * n), a.get("dilations", [1] * n)
    pads, extra = a.get("pads", [0] * (2 * n)), a.get("output_padding", [0] * n)
    y = f(x, w, None, stride=stride, dilation=dilation, groups=a.get("group", 1))
    for i in range(n):
        y = F.pad(y, [0, 0] * (n - 1 - i) + [-pads[i], extra[i] - pads[n + i]])
    return y if b is None else y + b.reshape([1, -1] + [1] * n)


def max_pool(a, x):
    n = x.dim() - 2
    x = F.pad(x, spatial_pads(a.get("pads", [0] * (2 * n))), value=float("-inf"))
    f = [F.max_pool1d, F.max_pool2d, F.max_pool3d][n - 1]
    return f(x, a["kernel_shape"], stride=a.get("strides", [1] * n), dilation=a.get("dilations", [1] * n))


def average_pool(a, x):
    n = x.dim() - 2
    pads, kernel, stride = a.get("pads", [0] * (2 * n)), a["kernel_shape"], a.get("strides", [1] * n)
    f = [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d][n - 1]
    if a.get("ceil_mode", 0) and a.get("count_include_pad", 0):
        assert pads[:n] == pads[n:], "torch pads both sides alike"
        return f(x, kernel, stride=stride, padding=pads[:n], ceil_mode=True)
    sums = f(F.pad(x, spatial_pads(pads)), kernel, stride=stride)
    if a.get("count_include_pad", 0):
        return sums
    seen = f(F.pad(torch.ones_like(x), spatial_pads(pads)), kernel, stride=stride)
    return sums / seen


def lrn(a, x):
    return F.local_response_norm(x, a["size"], a.get("alpha", 1e-4), a.get("beta", 0.75), a.get("bias", 1.0))


def batch_norm(a, x, w, b, mean, variance):
    return F.batch_norm(x, mean.clone(), variance.clone(), w, b, training=True, eps=a.get("epsilon", 1e-5))


def lstm(a, x, w, r, b=None, lengths=None, h0=None, c0=None):
    """Straight from the definition; gates i, o, f, c."""
    assert a.get("direction", "forward") == "forward" and lengths is None
    hidden = a["hidden_size"]
    h = x.new_zeros(x.shape[1], hidden) if h0 is None else h0[0]
    c = torch.zeros_like(h) if c0 is None else c0[0]
    bias = 0 if b is None else b[0][: 4 * hidden] + b[0][4 * hidden:]
    steps = []
    for t in range(x.shape[0]):
        i, o, f, g = (x[t] @ w[0].T + h @ r[0].T + bias).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        steps.append(h)
    return torch.stack(steps).unsqueeze(1), h.unsqueeze(0), c.unsqueeze(0)


def reshape(a, x, shape):
    dims = [x.shape[i] if d == 0 else d for i, d in enumerate(shape.long().tolist())]
    return x.reshape(dims)


def slice_(a, x, begin, end, axes, step):
    for b, e, axis, s in zip(begin.tolist(), end.tolist(), axes.tolist(), step.tolist()):
        assert s > 0
        index = torch.arange(x.shape[int(axis)])[int(b):int(max(min(e, 2**31), -2**31)):int(s)]
        x = x.index_select(int(axis), index)
    return x


def pad(a, x, pads, value=None):
    assert a.get("mode", "constant") == "constant"
    return F.pad(x, spatial_pads(pads.long().tolist()), value=0.0 if value is None else float(value))


def reduce_mean(a, x, axes=None):
    return x.mean(dim=a["axes"] if axes is None else axes.long().tolist(), keepdim=bool(a.get("keepdims", 1)))


def resize(a, x, roi, scales, sizes=None):
    extents = [int(d) for d in (x.shape[2:] if sizes is None else sizes[2:])]
    factors = None if sizes is not None else scales[2:].tolist()
    extents = [int(d * f) for d, f in zip(extents, factors)] if factors else extents
    if a["mode"] == "nearest":  # by whole factors all roundings are one
        for axis, extent in enumerate(extents):
            assert extent % x.shape[axis + 2] == 0
            x = x.repeat_interleave(extent // x.shape[axis + 2], axis + 2)
        return x
    assert a["mode"] == "linear" and a.get("coordinate_transformation_mode") in ("half_pixel", "align_corners")
    mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[x.dim() - 2]
    return F.interpolate(x, size=extents, mode=mode, align_corners=a["coordinate_transformation_mode"] == "align_corners")


def gemm(a, x, w, b=None):
    assert a.get("transB") == 1 and not a.get("transA") and a.get("alpha", 1) == 1
    return F.linear(x, w, b)


OPERATORS = {
    "Conv": conv, "ConvTranspose": conv_transpose, "MaxPool": max_pool, "AveragePool": average_pool, "LRN": lrn,
    "BatchNormalization": batch_norm, "LSTM": lstm, "Reshape": reshape, "Slice": slice_, "Pad": pad, "Resize": resize,
    "Gemm": gemm, "ReduceMean": reduce_mean,
    "GlobalAveragePool": lambda a, x: x.mean(dim=list(range(2, x.dim())), keepdim=True),
    "Flatten": lambda a, x: x.flatten(1),
    "LayerNormalization": lambda a, x, w, b=None: F.layer_norm(x, w.shape, w, b, a.get("epsilon", 1e-5)),
    "MatMul": lambda a, x, y: x @ y, "Transpose": lambda a, x: x.permute(a["perm"]),
    "Add": lambda a, x, y: x + y, "Sub": lambda a, x, y: x - y, "Mul": lambda a, x, y: x * y,
    "Div": lambda a, x, y: x / y, "Pow": lambda a, x, y: x ** y, "Relu": lambda a, x: F.relu(x),
    "LeakyRelu": lambda a, x: F.leaky_relu(x, a.get("alpha", 0.01)), "Tanh": lambda a, x: torch.tanh(x),
    "Exp": lambda a, x: torch.exp(x), "Log": lambda a, x: torch.log(x), "Sqrt": lambda a, x: torch.sqrt(x),
    "Softplus": lambda a, x: F.softplus(x), "Neg": lambda a, x: -x,
    "Sigmoid": lambda a, x: torch.sigmoid(x), "Erf": lambda a, x: torch.erf(x), "Identity": lambda a, x: x,
    "Softmax": lambda a, x: F.softmax(x, a.get("axis", -1)), "Concat": lambda a, *x: torch.cat(x, a["axis"]),
    "Gather": lambda a, x, i: x.index_select(a.get("axis", 0), i.long().flatten()).reshape(
        x.shape[: a.get("axis", 0)] + i.shape + x.shape[a.get("axis", 0) + 1:]),
    "Split": lambda a, x, s: torch.split(x, s.long().tolist(), a.get("axis", 0)),
    "Expand": lambda a, x, s: x.expand(s.long().tolist()),
    "Cast": lambda a, x: x,
}


def smooth_l1(d):
    return torch.where(d.abs() < 1, d * d / 2, d.abs() - 0.5)


def detection_loss(args, p, t):
    """models of boxes on a grid; see isobar/ops/detection_loss.cpp for the formulas."""
    is_object = t[..., 4] > 0
    h = smooth_l1(p[..., :4] - t[..., :4])
    rows = []
    for n in range(p.shape[0]):
        o = is_object[n]
        if args["variant"] == "a":
            e = 1e-5
            loss = (5 * h[n][o][:, :2].sum() + 7 * h[n][o][:, 2:].sum() - torch.log(p[n][o][:, 4] + e).sum()
                    - (t[n][o][:, 6:] * torch.log(p[n][o][:, 6:] + e)).sum()
                    - 0.5 * torch.log(p[n][~o][:, 5] + e).sum())
        elif not o.any():
            loss = 0 * p[n].sum()
        else:
            hit = torch.where(o, 0, 1)
            objects = F.cross_entropy(p[n][..., 4:6].reshape(-1, 2), hit.reshape(-1))
            classes = -(t[n][o][:, 6:] * F.log_softmax(p[n][o][:, 6:], -1)).sum(-1).mean()
            loss = objects + h[n][o].sum(-1).mean() + classes
        rows.append(loss)
    return sum(rows) / len(rows)


def softmax_cross_entropy(args, x, t):
    classes = x.shape[-1]
    weight = torch.tensor(args["weights"]) if args.get("weights") else None
    each = F.cross_entropy(x.reshape(-1, classes), t.reshape(-1).long(), weight=weight, reduction="none")
    how = args.get("reduction", "mean")
    if how == "mean":
        return each.mean()
    assert how in ("sum", "nonzero_mean"), how
    return each.sum() * args.get("scale", 1) if how == "sum" else each.sum() / each.numel()


def sigmoid_cross_entropy(args, x, t):
    each = F.binary_cross_entropy_with_logits(
        x, t.clamp(min=0), pos_weight=torch.tensor(float(args.get("positive_weight", 1))), reduction="none")
    each = torch.where(t >= 0, each, torch.zeros_like(each))
    return each.mean() if args.get("reduction") == "mean" else each.sum() / x.shape[0]


LOSSES = {
    "mse": lambda args, x, t: ((x - t) ** 2).mean(), "mae": lambda args, x, t: (x - t).abs().mean(),
    "softmax_cross_entropy": softmax_cross_entropy, "sigmoid_cross_entropy": sigmoid_cross_entropy,
    "detection_loss": detection_loss, "scale": lambda args, x: args["by"] * x, "add": lambda args, *x: sum(x),
    "nll": lambda args, x, t: F.nll_loss(x.reshape(-1, x.shape[-1]), t.reshape(-1).long()),
    "smooth_l1": lambda args, x, t: smooth_l1(x - t).mean(),
}


def attribute(a):
    value = onnx.helper.get_attribute_value(a)
    return value.decode() if isinstance(value, bytes) else value


def run_model(model, values):
    for node in model.graph.node:
        attributes = {a.name: attribute(a) for a in node.attribute}
        inputs = [values[name] if name else None for name in node.input]
        while inputs and inputs[-1] is None:
            inputs.pop()
        if node.op_type == "Dropout":
            result = inputs[0]
        else:
            result = OPERATORS[node.op_type](attributes, *inputs)
        for name, value in zip(node.output, result if isinstance(result, tuple) else (result,)):
            values[name] = value


def numbers(folder, name, shape):
    return torch.from_numpy(np.fromfile(folder / name, dtype=np.float32).astype(np.float64).reshape(shape))


def judge(folder):
    case = json.loads((folder / "case.json").read_text())
    model = onnx.load(folder / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    values = {t.name: torch.from_numpy(np.array(numpy_helper.to_array(t), dtype=np.float64)) for t in model.graph.initializer}
    for name in case["weights"]:
        if name in values:
            values[name].requires_grad_(True)
    x = numbers(folder, "x.raw", case["x"])
    dims = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    if len(case["x"]) >= 3 and dims[1:] != case["x"][1:] or case["turned"]:
        x = x.permute([0, x.dim() - 1] + list(range(1, x.dim() - 1)))
    values[model.graph.input[0].name] = x
    run_model(model, values)
    values["y"] = numbers(folder, "y.raw", case["y"])
    values["x itself"] = numbers(folder, "x.raw", case["x"])
    for node in case["loss"]:
        values[node["out"]] = LOSSES[node["kind"]](node["args"], *[values[name] for name in node["in"]])
    loss = values[case["loss"][-1]["out"]]
    loss.backward()
    worst, where = abs(loss.item() - case["value"]) / abs(loss.item()), "loss"
    # What does not reach the loss has no gradient, and neither has a bias in front of a batch normalisation.
    theirs = {name: torch.zeros(shape) if name not in values or values[name].grad is None else values[name].grad
              for name, shape in case["weights"].items()}
    whole = sum(g.norm().item() ** 2 for g in theirs.values()) ** 0.5
    for name, gradient in theirs.items():
        ours = numbers(folder, f"gradient_{case['files'][name]}.raw", gradient.shape)
        none = gradient.norm().item() < 1e-9 * whole
        apart = (ours - gradient).norm().item() / (whole if none else gradient.norm().item())
        if not apart <= worst:
            worst, where = apart, name
    return worst, where


def main():
    failed = False
    for network in sorted(p for p in pathlib.Path(sys.argv[1]).iterdir() if p.is_dir()):
        for start in sorted(network.iterdir()):
            worst, where = judge(start)
            good = worst <= float(sys.argv[2])
            if good:
                break
        failed |= not good
        print(f"{'agrees ' if good else 'DIFFERS'} {network.name}: {worst:.1e} at {where}, start {start.name}")
    sys.exit(1 if failed else 0)


main()
