"""Task: a network in PyTorch with its loss and the noise that is fed to it."""
from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Task:
    network: nn.Module
    loss: Callable  # of what the network gives, the target and the input
    batch: Callable  # from the number of samples to input and target


def noise(*shape):
    return lambda n: torch.rand(n, *shape)


def classes(count, *shape):
    return lambda n: torch.randint(count, (n, *shape))


def fed(x, y):
    """Samples of both makers."""
    return lambda n: (x(n), y(n))


def class_loss(prediction, y, _):
    return F.cross_entropy(prediction, y)


def classifier(network, shape, count):
    """The Task of a network that finds one class per sample."""
    return Task(network, class_loss, fed(noise(*shape), classes(count)))


def scaled(channels, scale, unit=1):
    """Channels of a network whose published table is multiplied by `scale`; see isobar/zoo/scaling.hpp."""
    return unit * max(1, int(scale * channels / unit + 0.5))
