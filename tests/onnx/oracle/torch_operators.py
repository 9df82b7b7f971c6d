"""Operators of ONNX as PyTorch computes them: OPERATORS[type](attributes, *inputs).

PyTorch's own function wherever it has one that means the same; the others are written from ONNX's definition, and their
gradients are PyTorch's.
"""
import math

import torch
import torch.nn.functional as F


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
    size, alpha, beta, k = a["size"], a.get("alpha", 1e-4), a.get("beta", 0.75), a.get("bias", 1.0)
    if size % 2 == 1 and x.dim() > 2:
        return F.local_response_norm(x, size, alpha, beta, k)
    # With an even size PyTorch's window reaches further back than ONNX's.
    square = F.pad((x * x).movedim(1, -1), [(size - 1) // 2, size // 2])
    return x / (k + alpha * square.unfold(-1, size, 1).mean(-1).movedim(-1, 1)) ** beta


def batch_norm(a, x, w, b, mean, variance):
    return F.batch_norm(x, mean.clone(), variance.clone(), w, b, training=not a["frozen"], eps=a.get("epsilon", 1e-5))


def layer_norm(a, x, w, b=None):
    return F.layer_norm(x, x.shape[a.get("axis", -1):], w, b, a.get("epsilon", 1e-5))


def lstm(a, x, w, r, b=None, lengths=None, h0=None, c0=None):
    """Straight from the definition; gates i, o, f, c."""
    assert lengths is None
    hidden, directions = a["hidden_size"], w.shape[0]
    first = {"forward": 0, "reverse": 1, "bidirectional": 0}[a.get("direction", "forward")]
    sequences, hs, cs = [], [], []
    for d in range(directions):
        h = x.new_zeros(x.shape[1], hidden) if h0 is None else h0[d]
        c = torch.zeros_like(h) if c0 is None else c0[d]
        bias = 0 if b is None else b[d][: 4 * hidden] + b[d][4 * hidden:]
        backwards = first + d == 1
        steps = [None] * x.shape[0]
        for t in reversed(range(x.shape[0])) if backwards else range(x.shape[0]):
            i, o, f, g = (x[t] @ w[d].T + h @ r[d].T + bias).chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            steps[t] = h
        sequences.append(torch.stack(steps))
        hs.append(h)
        cs.append(c)
    return torch.stack(sequences, 1), torch.stack(hs), torch.stack(cs)


def reshape(a, x, shape):
    dims = [x.shape[i] if d == 0 else d for i, d in enumerate(shape.long().tolist())]
    return x.reshape(dims)


def picked(x, axis, index):
    return x.index_select(axis, torch.tensor(index, dtype=torch.long))


def slice_(a, x, begin, end, axes, step):
    for b, e, axis, s in zip(begin.tolist(), end.tolist(), axes.tolist(), step.tolist()):
        index = list(range(x.shape[int(axis)]))[int(b):int(max(min(e, 2**31), -2**31)):int(s)]
        x = picked(x, int(axis), index)
    return x


def pad(a, x, pads, value=None):
    pads, mode = pads.long().tolist(), a.get("mode", "constant")
    if mode == "constant":
        return F.pad(x, spatial_pads(pads), value=0.0 if value is None else float(value))
    for axis in range(x.dim()):
        n, before, after = x.shape[axis], pads[axis], pads[x.dim() + axis]
        if mode == "edge":
            index = [min(max(i, 0), n - 1) for i in range(-before, n + after)]
        else:  # reflected as often as it takes
            assert mode == "reflect"
            period = max(2 * (n - 1), 1)
            index = [min(i % period, period - i % period) if n > 1 else 0 for i in range(-before, n + after)]
        x = picked(x, axis, index)
    return x


def reduced(f):
    """f(x, axes, keep) of an operator Reduce...; axes come as attribute or as input."""
    def run(a, x, axes=None):
        axes = a.get("axes", list(range(x.dim()))) if axes is None else axes.long().tolist()
        return f(x, [i % x.dim() for i in axes], bool(a.get("keepdims", 1)))
    return run


def reduce_prod(x, axes, keep):
    for axis in sorted(axes, reverse=True):
        x = x.prod(dim=axis, keepdim=keep)
    return x


def cubic(distance, c):
    d = abs(distance)
    if d <= 1:
        return ((c + 2) * d - (c + 3)) * d * d + 1
    return ((c * d - 5 * c) * d + 8 * c) * d - 4 * c if d < 2 else 0.0


def resize_row(a, position, n):
    """(index, weight) of every element of an axis of n that the output at this position is made of."""
    if a["mode"] == "nearest":
        how = a.get("nearest_mode", "round_prefer_floor")
        index = {"floor": math.floor, "ceil": math.ceil, "round_prefer_floor": lambda p: math.ceil(p - 0.5),
                 "round_prefer_ceil": lambda p: math.floor(p + 0.5)}[how](position)
        return [(min(max(index, 0), n - 1), 1.0)]
    low = math.floor(position)
    if a["mode"] == "linear":
        row = [(low + i, 1 - abs(position - low - i)) for i in (0, 1)]
    else:
        row = [(low + i, cubic(position - low - i, a.get("cubic_coeff_a", -0.75))) for i in (-1, 0, 1, 2)]
        if a.get("exclude_outside", 0):
            row = [(i, w) for i, w in row if 0 <= i < n]
            total = sum(w for _, w in row)
            row = [(i, w / total) for i, w in row]
    return [(min(max(i, 0), n - 1), w) for i, w in row]


def resize(a, x, roi, scales, sizes=None):
    coordinates = a.get("coordinate_transformation_mode", "half_pixel")
    extents = [int(d) for d in sizes[2:]] if sizes is not None else [
        int(d * s) for d, s in zip(x.shape[2:], scales[2:].tolist())]
    exact = all(e % d == 0 for d, e in zip(x.shape[2:], extents))
    if a["mode"] == "nearest" and exact and coordinates == "half_pixel":  # by whole factors all roundings are one
        for axis, extent in enumerate(extents):
            x = x.repeat_interleave(extent // x.shape[axis + 2], axis + 2)
        return x
    whole_scales = sizes is not None or all(float(s) * d == e for s, d, e in zip(scales[2:], x.shape[2:], extents))
    if a["mode"] == "linear" and coordinates in ("half_pixel", "align_corners") and whole_scales:
        mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[x.dim() - 2]
        return F.interpolate(x, size=extents, mode=mode, align_corners=coordinates == "align_corners")
    for axis, extent in enumerate(extents):  # PyTorch has no such resizing: a matrix for every axis
        n = x.shape[axis + 2]
        scale = extent / n if sizes is not None else float(scales[axis + 2])
        matrix = torch.zeros(extent, n)
        for o in range(extent):
            position = {"half_pixel": lambda: (o + 0.5) / scale - 0.5,
                        "pytorch_half_pixel": lambda: (o + 0.5) / scale - 0.5 if extent > 1 else 0.0,
                        "asymmetric": lambda: o / scale,
                        "align_corners": lambda: o * (n - 1) / (extent - 1) if extent > 1 else 0.0}[coordinates]()
            for index, weight in resize_row(a, position, n):
                matrix[o, index] += weight
        x = (x.movedim(axis + 2, -1) @ matrix.T).movedim(-1, axis + 2)
    return x


def gemm(a, x, w, b=None):
    assert a.get("transB") == 1 and not a.get("transA") and a.get("alpha", 1) == 1
    return F.linear(x, w, b)


def gather(a, x, i):
    axis = a.get("axis", 0) % x.dim()
    index = i.long().flatten() % x.shape[axis]
    return x.index_select(axis, index).reshape(x.shape[:axis] + i.shape + x.shape[axis + 1:])


def depth_to_space(a, x):
    b, (n, c, h, w) = a["blocksize"], x.shape
    if a.get("mode", "DCR") == "CRD":
        return F.pixel_shuffle(x, b)
    return x.reshape(n, b, b, c // b // b, h, w).permute(0, 3, 4, 1, 5, 2).reshape(n, c // b // b, h * b, w * b)


def space_to_depth(a, x):
    b, (n, c, h, w) = a["blocksize"], x.shape
    return x.reshape(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)


def prelu(a, x, slope):
    return torch.where(x >= 0, x, x * slope)


def clip(a, x, low=None, high=None):
    x = x if low is None else torch.clamp(x, min=float(low))
    return x if high is None else torch.clamp(x, max=float(high))


def shrink(a, x):
    bias, edge = a.get("bias", 0.0), a.get("lambd", 0.5)
    return torch.where(x < -edge, x + bias, torch.where(x > edge, x - bias, torch.zeros_like(x)))


def hard_sigmoid(a, x):
    return torch.clamp(a.get("alpha", 0.2) * x + a.get("beta", 0.5), 0, 1)


def selu(a, x):
    alpha, gamma = a.get("alpha", 1.6732632423543772), a.get("gamma", 1.0507009873554804)
    return gamma * torch.where(x > 0, x, alpha * torch.expm1(x))


# Results that are only moved or chosen, not computed: they are not rounded.
EXACT = {"Reshape", "Slice", "Pad", "Flatten", "Transpose", "Relu", "LeakyRelu", "MaxPool", "Identity", "Concat",
         "Gather", "Split", "Expand", "Cast", "DepthToSpace", "SpaceToDepth", "Max", "Min", "GlobalMaxPool", "Neg"}

OPERATORS = {
    "Conv": conv, "ConvTranspose": conv_transpose, "MaxPool": max_pool, "AveragePool": average_pool, "LRN": lrn,
    "BatchNormalization": batch_norm, "LayerNormalization": layer_norm, "LSTM": lstm, "Reshape": reshape,
    "Slice": slice_, "Pad": pad, "Resize": resize, "Gemm": gemm, "Gather": gather, "DepthToSpace": depth_to_space,
    "SpaceToDepth": space_to_depth, "PRelu": prelu, "Clip": clip, "Shrink": shrink, "HardSigmoid": hard_sigmoid,
    "Selu": selu,
    "ReduceMean": reduced(lambda x, axes, keep: x.mean(axes, keepdim=keep)),
    "ReduceSum": reduced(lambda x, axes, keep: x.sum(axes, keepdim=keep)),
    "ReduceMax": reduced(lambda x, axes, keep: x.amax(axes, keepdim=keep)),
    "ReduceMin": reduced(lambda x, axes, keep: x.amin(axes, keepdim=keep)),
    "ReduceProd": reduced(reduce_prod),
    "ReduceL1": reduced(lambda x, axes, keep: x.abs().sum(axes, keepdim=keep)),
    "ReduceL2": reduced(lambda x, axes, keep: (x * x).sum(axes, keepdim=keep).sqrt()),
    "ReduceLogSum": reduced(lambda x, axes, keep: x.sum(axes, keepdim=keep).log()),
    "ReduceLogSumExp": reduced(lambda x, axes, keep: x.logsumexp(axes, keepdim=keep)),
    "ReduceSumSquare": reduced(lambda x, axes, keep: (x * x).sum(axes, keepdim=keep)),
    "GlobalAveragePool": lambda a, x: x.mean(dim=list(range(2, x.dim())), keepdim=True),
    "GlobalMaxPool": lambda a, x: x.amax(dim=list(range(2, x.dim())), keepdim=True),
    "Flatten": lambda a, x: x.flatten(1), "Transpose": lambda a, x: x.permute(a["perm"]),
    "MatMul": lambda a, x, y: x @ y, "Add": lambda a, x, y: x + y, "Sub": lambda a, x, y: x - y,
    "Mul": lambda a, x, y: x * y, "Div": lambda a, x, y: x / y, "Pow": lambda a, x, y: x ** y,
    "Max": lambda a, x, y: torch.maximum(x, y), "Min": lambda a, x, y: torch.minimum(x, y),
    "Relu": lambda a, x: F.relu(x), "LeakyRelu": lambda a, x: F.leaky_relu(x, a.get("alpha", 0.01)),
    "Elu": lambda a, x: F.elu(x, a.get("alpha", 1.0)), "Celu": lambda a, x: F.celu(x, a.get("alpha", 1.0)),
    "ThresholdedRelu": lambda a, x: torch.where(x > a.get("alpha", 1.0), x, torch.zeros_like(x)),
    "HardSwish": lambda a, x: F.hardswish(x), "Softplus": lambda a, x: F.softplus(x),
    "Softsign": lambda a, x: F.softsign(x), "Reciprocal": lambda a, x: 1 / x, "Neg": lambda a, x: -x,
    "Softmax": lambda a, x: F.softmax(x, a.get("axis", -1)),
    "LogSoftmax": lambda a, x: F.log_softmax(x, a.get("axis", -1)),
    "Concat": lambda a, *x: torch.cat(x, a["axis"]),
    "Split": lambda a, x, s: torch.split(x, s.long().tolist(), a.get("axis", 0)),
    "Expand": lambda a, x, s: x.expand(s.long().tolist()),
    "Identity": lambda a, x: x, "Cast": lambda a, x: x,
}
for name in ("Tanh Exp Log Sqrt Sigmoid Erf Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Floor Round Sign Sin Sinh "
             "Tan").split():
    OPERATORS[name] = lambda a, x, f=getattr(torch, name.lower()): f(x)
