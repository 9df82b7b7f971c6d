"""The zoo's networks in PyTorch: one table of makers, and what is fed to them.

A maker takes the arguments of the network's Spec and returns a Task. Weights are made as PyTorch makes them: how they
start has no influence on how long a step takes.
"""
import ast
import inspect
import re

import torch
import torch_climate
import torch_cosmos
import torch_images
import torch_sequences

NETWORKS = {
    "alexnet": torch_images.alexnet,
    "caffenet": torch_images.caffenet,
    "cifar10_full": torch_images.cifar10_full,
    "cifar10_quick": torch_images.cifar10_quick,
    "climate_detector": torch_climate.climate_detector,
    "cosmoflow": torch_cosmos.cosmoflow,
    "cosmoflow_sc18": torch_cosmos.cosmoflow_sc18,
    "deepcam": torch_climate.deepcam,
    "deeplabv3plus": torch_climate.deeplabv3plus,
    "googlenet": torch_images.googlenet,
    "gpt": torch_sequences.gpt,
    "gpt2_small": torch_sequences.gpt2_small,
    "hep": torch_images.hep,
    "lenet": torch_images.lenet,
    "lstm_classifier": torch_sequences.lstm_classifier,
    "resnet101": torch_images.resnet101,
    "tiramisu": torch_climate.tiramisu,
}


def value_of(node):
    """What a node of a Spec's arguments stands for: a number, a truth value, a word, a list or, as text, a Spec."""
    if isinstance(node, ast.List):
        return [value_of(item) for item in node.elts]
    if isinstance(node, ast.Name):
        return {"true": True, "false": False}.get(node.id, node.id)
    if isinstance(node, ast.Call):
        return ast.unparse(node)
    return ast.literal_eval(node)


def parse(spec):
    """The name and the arguments of `name` or `name(key=value, ...)`."""
    text = re.sub(r"\blambda(?=\s*=)", "lambda_", spec.strip())  # a word Python keeps for itself
    tree = ast.parse(text, mode="eval").body
    if isinstance(tree, ast.Name):
        return tree.id, {}
    return tree.func.id, {word.arg: value_of(word.value) for word in tree.keywords}


def make_task(spec):
    """The Task of a network's Spec; exits with what is wrong when it is not known here."""
    name, arguments = parse(spec)
    if name not in NETWORKS:
        raise SystemExit(f"torch: no network '{name}'; there are {', '.join(NETWORKS)}")
    known = inspect.signature(NETWORKS[name]).parameters
    for key in arguments:
        if key not in known:
            raise SystemExit(f"torch: network '{name}' has no argument '{key}' here; it has {', '.join(known)}")
    return NETWORKS[name](**arguments)


def trained_parameters(network):
    return sum(p.numel() for p in network.parameters() if p.requires_grad)


def add_options(parser, threads):
    """What is trained, and how."""
    parser.add_argument("--model", required=True, help="as on isobar's command line: 'hep(size=64)'")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=threads)
    parser.add_argument("--layout", choices=["plain", "channels_last"], default="plain")
    parser.add_argument("--parameters", type=int, help="refuse a network with another number of trained ones")
    parser.add_argument("--rate", type=float, default=1e-6)


def prepared(args):
    """The Task, and a batch of noise, in the layout asked for."""
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    task = make_task(args.model)
    count = trained_parameters(task.network)
    if args.parameters is not None and count != args.parameters:
        raise SystemExit(f"torch: '{args.model}' has {count} trained parameters here, {args.parameters} in isobar")
    x, y = task.batch(args.batch)
    if args.layout == "channels_last":
        layouts = {4: torch.channels_last, 5: torch.channels_last_3d}
        if x.dim() not in layouts:
            raise SystemExit(f"torch: inputs of '{args.model}' have no channels to put last")
        task.network = task.network.to(memory_format=layouts[x.dim()])
        x = x.to(memory_format=layouts[x.dim()])
    return task, x, y


def optimizer_of(network, rate):
    return torch.optim.SGD([p for p in network.parameters() if p.requires_grad], lr=rate, momentum=0.9)
