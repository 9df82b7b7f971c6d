"""Case: what tests/onnx/oracle_files.hpp wrote into a folder, computed by PyTorch in double precision."""
import json
import pathlib

import numpy as np
import onnx
from onnx import numpy_helper
import torch

from torch_losses import LOSSES
from torch_operators import EXACT, OPERATORS

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)  # the cases are small


def attribute(a):
    value = onnx.helper.get_attribute_value(a)
    return value.decode() if isinstance(value, bytes) else list(value) if not isinstance(value, (int, float)) else value


class Result:
    """Loss, outputs and gradients by name; what does not reach the loss has a gradient of zeros."""

    def __init__(self, loss, outputs, gradients):
        self.loss, self.outputs, self.gradients = loss, outputs, gradients
        self.whole = sum(g.norm().item() ** 2 for g in gradients.values()) ** 0.5

    def only_rounding(self, name):
        """Whether this gradient would be zero in exact arithmetic, as that of a bias in front of a batch normalisation."""
        return self.gradients[name].norm().item() < 1e-9 * self.whole

    def scale(self, name):
        """What an error in this gradient is compared with: its norm, or that of all gradients together if it is zero."""
        return self.whole if self.only_rounding(name) else self.gradients[name].norm().item()

    def furthest(self, other):
        """The largest relative difference of a gradient of `other`, and its name."""
        worst, where = 0.0, ""
        for name, gradient in self.gradients.items():
            apart = (other[name] - gradient).norm().item()
            if apart > 0 and not apart / self.scale(name) <= worst:
                worst, where = apart / self.scale(name), name
        return worst, where


class Case:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.told = json.loads((self.folder / "case.json").read_text())
        self.model = onnx.load(str(self.folder / "model.onnx"))
        onnx.checker.check_model(self.model, full_check=True)

    def numbers(self, name, shape):
        raw = np.fromfile(str(self.folder / name), dtype=np.float32)
        return torch.from_numpy(raw.astype(np.float64).reshape(shape))

    def our_gradients(self):
        return {name: self.numbers(f"gradient_{w['file']}.raw", w["shape"]) for name, w in self.told["weights"].items()}

    def our_outputs(self):
        return {name: self.numbers(f"output_{name}.raw", -1) for name in self.told["outputs"]}

    def start(self):
        values = {t.name: torch.from_numpy(np.array(numpy_helper.to_array(t), dtype=np.float64))
                  for t in self.model.graph.initializer}
        for name in self.told["weights"]:
            if name in values:
                values[name].requires_grad_(True)
        for name, given in self.told["inputs"].items():
            x = values["given " + name] = self.numbers(f"input_{name}.raw", given["shape"])
            if given["turned"]:
                x = x.permute([0, x.dim() - 1] + list(range(1, x.dim() - 1)))
            values[name] = x
        return values

    def run(self, noise=0.0, seed=0):
        """With noise, every computed number and its gradient is displaced by about so many times the size of its
        neighbours."""
        generator = torch.Generator().manual_seed(seed)

        def displaced(value):
            there = (value != 0) & (value.abs() < 1e20)  # what is masked out of an attention is huge
            size = value[there].pow(2).mean().sqrt() if there.any() else 0
            return value + noise * size * torch.randn(value.shape, generator=generator) * there

        values = self.start()
        for node in self.model.graph.node:
            attributes = {a.name: attribute(a) for a in node.attribute}
            # The exporter puts ~2 behind a name that is taken.
            attributes["frozen"] = node.output[0].split("~")[0] in self.told["frozen"]
            inputs = [values[name] if name else None for name in node.input]
            while inputs and inputs[-1] is None:
                inputs.pop()
            result = OPERATORS[node.op_type](attributes, *inputs)
            for name, value in zip(node.output, result if isinstance(result, (tuple, list)) else (result,)):
                if noise and node.op_type not in EXACT and value.requires_grad:
                    value = value + (displaced(value.detach()) - value.detach())
                    value.register_hook(displaced)
                values[name] = value
        for node in self.told["loss"]:
            values[node["out"]] = LOSSES[node["kind"]](node["args"], *[values[name] for name in node["in"]])
        loss = values[self.told["loss"][-1]["out"]]
        if loss.requires_grad:
            loss.backward()
        gradients = {}
        for name, weight in self.told["weights"].items():
            known = name in values and values[name].grad is not None
            gradients[name] = values[name].grad if known else torch.zeros(weight["shape"])
        outputs = {name: values[tap].detach().reshape(-1) for name, tap in self.told["outputs"].items()}
        return Result(loss.item(), outputs, gradients)
