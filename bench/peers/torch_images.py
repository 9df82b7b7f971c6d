"""Networks on pictures in PyTorch: Caffe's, the collider's, and ResNet-101."""
import torch
import torch.nn.functional as F
from torch import nn
from torch_task import Task, classes as class_numbers, classifier, fed, noise, scaled


def relu():
    return nn.ReLU(inplace=True)


def extent(size, window, stride):
    """Positions of Caffe's pooling, whose last window may reach beyond the edge."""
    return -(-(size - window) // stride) + 1


class WithinChannels(nn.Module):
    """Caffe's local response normalisation over 3 x 3 positions of one channel."""

    def forward(self, x):
        return x * (1 + 5e-5 * F.avg_pool2d(x * x, 3, 1, 1)).pow(-0.75)


def lenet(size=28, channels=1, classes=10, scale=1):
    """See isobar/zoo/lenet.cpp."""
    a, b, c = (scaled(n, scale) for n in (20, 50, 500))
    side = ((size - 4) // 2 - 4) // 2
    network = nn.Sequential(nn.Conv2d(channels, a, 5), nn.MaxPool2d(2), nn.Conv2d(a, b, 5), nn.MaxPool2d(2),
                            nn.Flatten(), nn.Linear(b * side * side, c), relu(), nn.Linear(c, classes))
    return classifier(network, (channels, size, size), classes)


def cifar10(size, channels, classes, scale, normalised, hidden):
    a, b, c = (scaled(n, scale) for n in (32, 32, 64))
    between = [WithinChannels] if normalised else []
    parts = [nn.Conv2d(channels, a, 5, padding=2), nn.MaxPool2d(3, 2, ceil_mode=True), relu(), *(n() for n in between),
             nn.Conv2d(a, b, 5, padding=2), relu(), nn.AvgPool2d(3, 2, ceil_mode=True), *(n() for n in between),
             nn.Conv2d(b, c, 5, padding=2), relu(), nn.AvgPool2d(3, 2, ceil_mode=True), nn.Flatten()]
    side = extent(extent(extent(size, 3, 2), 3, 2), 3, 2)
    units = [c * side * side, *hidden, classes]
    parts += [nn.Linear(i, o) for i, o in zip(units, units[1:])]
    return classifier(nn.Sequential(*parts), (channels, size, size), classes)


def cifar10_full(size=32, channels=3, classes=10, scale=1):
    """See isobar/zoo/cifar10_full.cpp."""
    return cifar10(size, channels, classes, scale, True, [])


def cifar10_quick(size=32, channels=3, classes=10, scale=1):
    """See isobar/zoo/cifar10_quick.cpp."""
    return cifar10(size, channels, classes, scale, False, [scaled(64, scale)])


def alexnet(size=227, channels=3, classes=1000, scale=1, dropout=0.5, pool_first=False):
    """See isobar/zoo/alexnet.cpp."""
    parts, c, side = [], channels, size
    for number, (kernel, filters, stride, padding, groups) in enumerate(
            [(11, 96, 4, 0, 1), (5, 256, 1, 2, 2), (3, 384, 1, 1, 1), (3, 384, 1, 1, 2), (3, 256, 1, 1, 2)]):
        filters = scaled(filters, scale, 2)
        parts += [nn.Conv2d(c, filters, kernel, stride, padding, groups=groups), relu()]
        c, side = filters, (side + 2 * padding - kernel) // stride + 1
        norm = [nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75)] if number < 2 else []
        pool = [nn.MaxPool2d(3, 2, ceil_mode=True)] if number < 2 or number == 4 else []
        parts += pool + norm if pool_first else norm + pool
        side = extent(side, 3, 2) if pool else side
    wide = scaled(4096, scale)
    parts += [nn.Flatten(), nn.Linear(c * side * side, wide), relu(), nn.Dropout(dropout), nn.Linear(wide, wide),
              relu(), nn.Dropout(dropout), nn.Linear(wide, classes)]
    return classifier(nn.Sequential(*parts), (channels, size, size), classes)


def caffenet(size=227, channels=3, classes=1000, scale=1, dropout=0.5):
    """See isobar/zoo/caffenet.cpp."""
    return alexnet(size, channels, classes, scale, dropout, pool_first=True)


def conv_relu(*args, **kwargs):
    return nn.Sequential(nn.Conv2d(*args, **kwargs), relu())


class Inception(nn.Module):
    def __init__(self, c, single, reduce3, full3, reduce5, full5, pooled):
        super().__init__()
        self.branches = nn.ModuleList([
            conv_relu(c, single, 1),
            nn.Sequential(conv_relu(c, reduce3, 1), conv_relu(reduce3, full3, 3, padding=1)),
            nn.Sequential(conv_relu(c, reduce5, 1), conv_relu(reduce5, full5, 5, padding=2)),
            nn.Sequential(nn.MaxPool2d(3, 1, 1), conv_relu(c, pooled, 1))])

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


class GoogLeNet(nn.Module):
    MODULES = {"3a": (64, 96, 128, 16, 32, 32), "3b": (128, 128, 192, 32, 96, 64), "4a": (192, 96, 208, 16, 48, 64),
               "4b": (160, 112, 224, 24, 64, 64), "4c": (128, 128, 256, 24, 64, 64), "4d": (112, 144, 288, 32, 64, 64),
               "4e": (256, 160, 320, 32, 128, 128), "5a": (256, 160, 320, 32, 128, 128),
               "5b": (384, 192, 384, 48, 128, 128)}

    def __init__(self, size, channels, classes, scale, dropout, auxiliary, auxiliary_dropout):
        super().__init__()
        a, b = scaled(64, scale), scaled(192, scale)
        self.stem = nn.Sequential(conv_relu(channels, a, 7, 2, 3), nn.MaxPool2d(3, 2, ceil_mode=True),
                                  nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75), conv_relu(a, a, 1),
                                  conv_relu(a, b, 3, padding=1), nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75),
                                  nn.MaxPool2d(3, 2, ceil_mode=True))
        side = extent(extent(extent((size - 1) // 2 + 1, 3, 2), 3, 2), 3, 2)
        self.modules_, self.auxiliary, c = nn.ModuleDict(), nn.ModuleDict(), b
        for name, table in self.MODULES.items():
            widths = [scaled(n, scale) for n in table]
            self.modules_[name] = Inception(c, *widths)
            c = widths[0] + widths[2] + widths[4] + widths[5]
            if auxiliary and name in ("4a", "4d"):
                d, hidden = scaled(128, scale), scaled(1024, scale)
                self.auxiliary[name] = nn.Sequential(
                    nn.AvgPool2d(5, 3, ceil_mode=True), conv_relu(c, d, 1), nn.Flatten(),
                    nn.Linear(d * extent(side, 5, 3)**2, hidden), relu(), nn.Dropout(auxiliary_dropout),
                    nn.Linear(hidden, classes))
        self.halving = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(dropout), nn.Linear(c, classes))

    def forward(self, x):
        h, more = self.stem(x), []
        for name, module in self.modules_.items():
            h = module(self.halving(h) if name in ("4a", "5a") else h)
            if name in self.auxiliary:
                more.append(self.auxiliary[name](h))
        return self.head(h), more


def googlenet(size=224, channels=3, classes=1000, scale=1, dropout=0.4, auxiliary=True, auxiliary_dropout=0.7):
    """See isobar/zoo/googlenet.cpp."""

    def loss(prediction, y, _):
        main, more = prediction
        return F.cross_entropy(main, y) + sum(0.3 * F.cross_entropy(p, y) for p in more)

    network = GoogLeNet(size, channels, classes, scale, dropout, auxiliary, auxiliary_dropout)
    return Task(network, loss, fed(noise(channels, size, size), class_numbers(classes)))


def hep(size=224, channels=3, filters=128, layers=5, classes=2, dropout=0.5):
    """See isobar/zoo/hep.cpp."""
    parts, c = [], channels
    for i in range(layers):
        parts += [nn.Conv2d(c, filters, 3, padding=1), relu()]
        parts += [nn.MaxPool2d(2), nn.Dropout(dropout)] if i + 1 < layers else [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
        c = filters
    return classifier(nn.Sequential(*parts, nn.Linear(filters, classes)), (channels, size, size), classes)


def activated(c):
    return nn.Sequential(nn.BatchNorm2d(c, momentum=0.003), relu())


class Unit(nn.Module):
    """A pre-activation bottleneck; a projected shortcut has a normalisation and ReLU of its own."""

    def __init__(self, c, base, first):
        super().__init__()
        stride = 2 if first else 1
        self.skip = nn.Sequential(activated(c), nn.Conv2d(c, 4 * base, 1, 2, bias=False)) if first else nn.Identity()
        self.body = nn.Sequential(activated(c), nn.Conv2d(c, base, 1, bias=False), activated(base),
                                  nn.Conv2d(base, base, 3, stride, 1, bias=False), activated(base),
                                  nn.Conv2d(base, 4 * base, 1, bias=False))

    def forward(self, x):
        return self.skip(x) + self.body(x)


def resnet101(size=224, channels=3, classes=11166, scale=1, units=(3, 4, 23, 3)):
    """See isobar/zoo/resnet101.cpp."""
    c = scaled(64, scale)
    parts = [nn.Conv2d(channels, c, 7, 2, 3, bias=False)]
    for stage, count in enumerate(units):
        base = scaled(64 << stage, scale)
        for unit in range(count):
            parts.append(Unit(c, base, unit == 0))
            c = 4 * base
    parts += [activated(c), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c, classes)]
    weight = torch.full((classes,), 12.0)

    def loss(p, y, _):
        return F.binary_cross_entropy_with_logits(p, y, pos_weight=weight, reduction="sum") / p.shape[0]

    return Task(nn.Sequential(*parts), loss,
                fed(noise(channels, size, size), lambda n: (torch.rand(n, classes) < 0.1).float()))
