"""The losses of the catalogue as PyTorch computes them: LOSSES[kind](arguments, *inputs). ONNX files hold none."""
import torch
import torch.nn.functional as F


def class_loss(args, each, targets):
    """The sum over positions of weight times term, scaled as isobar/ops/class_loss.hpp says."""
    weights = torch.ones_like(each)
    if args.get("weights"):
        weights = torch.tensor(args["weights"], dtype=each.dtype)[targets.clamp(min=0)]
    weights = torch.where(targets == args.get("ignore", -1), torch.zeros_like(weights), weights)
    how = args.get("reduction", "mean")
    divisor = {"mean": each.numel(), "sum": 1, "weighted_mean": weights.sum(), "nonzero_mean": (weights != 0).sum()}[how]
    return args.get("scale", 1) * (weights * each).sum() / divisor


def of_classes(term):
    """A loss of class numbers: term(args, x [positions, classes], t [positions]) for every position."""
    def run(args, x, t):
        t = t.reshape(-1).long()
        return class_loss(args, term(args, x.reshape(-1, x.shape[-1]), t.clamp(min=0)), t)
    return run


def focal(args, x, t):
    log_q = F.log_softmax(x, -1).gather(1, t[:, None])[:, 0]
    return -args.get("alpha", 1) * (1 - log_q.exp()) ** args.get("gamma", 2) * log_q


def smooth_l1(d, knee=1):
    return torch.where(d.abs() < knee, d * d / (2 * knee), d.abs() - knee / 2)


def detection_loss(args, p, t):
    """Boxes on a grid; see isobar/ops/detection_loss.cpp for the formulas."""
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


def sigmoid_cross_entropy(args, x, t):
    each = F.binary_cross_entropy_with_logits(
        x, t.clamp(min=0), pos_weight=torch.tensor(float(args.get("positive_weight", 1))), reduction="none")
    each = torch.where(t == args.get("ignore", -1), torch.zeros_like(each), each)
    return each.mean() if args.get("reduction") == "mean" else each.sum(-1).mean()


LOSSES = {
    "mse": lambda args, x, t: ((x - t) ** 2).mean(), "mae": lambda args, x, t: (x - t).abs().mean(),
    "softmax_cross_entropy": of_classes(lambda args, x, t: F.cross_entropy(x, t, reduction="none")),
    "nll": of_classes(lambda args, x, t: F.nll_loss(x, t, reduction="none")), "focal": of_classes(focal),
    "sigmoid_cross_entropy": sigmoid_cross_entropy, "detection_loss": detection_loss,
    "smooth_l1": lambda args, x, t: smooth_l1(x - t, args.get("knee", 1)).mean(),
    "scale": lambda args, x: args["by"] * x, "add": lambda args, *x: sum(x),
}
