"""Networks on volumes in PyTorch: CosmoFlow of MLPerf-HPC and of SC18."""
import torch.nn.functional as F
from torch import nn
from torch_task import Task, fed, noise, scaled


class Bounded(nn.Module):
    """1.2 tanh."""

    def forward(self, x):
        return 1.2 * x.tanh()


def cosmoflow(size=128, channels=4, width=32, layers=5, outputs=4, dropout=0.5):
    """MLPerf-HPC CosmoFlow; see isobar/zoo/cosmoflow.cpp."""
    parts, c = [], channels
    for i in range(layers):
        parts += [nn.Conv3d(c, width << i, 3, padding=1), nn.LeakyReLU(0.3, inplace=True), nn.MaxPool3d(2)]
        c = width << i
    parts += [nn.Flatten(), nn.Linear(c * (size >> layers)**3, 128), nn.LeakyReLU(0.3, inplace=True),
              nn.Dropout(dropout), nn.Linear(128, 64), nn.LeakyReLU(0.3, inplace=True), nn.Dropout(dropout),
              nn.Linear(64, outputs), Bounded()]
    return Task(nn.Sequential(*parts), lambda p, y, _: F.mse_loss(p, y),
                fed(noise(channels, size, size, size), noise(outputs)))


def cosmoflow_sc18(size=128, channels=1, outputs=3, dropout=0.5, scale=1):
    """CosmoFlow of SC18; see isobar/zoo/cosmoflow_sc18.cpp."""
    parts, c, side = [], channels, size
    for kernel, filters, stride, pool in [(3, 16, 1, True), (4, 32, 1, True), (4, 64, 1, True), (3, 128, 2, False),
                                          (3, 256, 1, False), (2, 256, 1, False), (2, 256, 1, False)]:
        filters = scaled(filters, scale)
        parts += [nn.Conv3d(c, filters, kernel, stride), nn.LeakyReLU(0.01, inplace=True)]
        side, c = (side - kernel) // stride + 1, filters
        if pool:
            parts.append(nn.AvgPool3d(2))
            side //= 2
    wide, narrow = scaled(2048, scale), scaled(256, scale)
    parts += [nn.Flatten(), nn.Dropout(dropout), nn.Linear(c * side**3, wide), nn.LeakyReLU(0.01, inplace=True),
              nn.Dropout(dropout), nn.Linear(wide, narrow), nn.LeakyReLU(0.01, inplace=True), nn.Dropout(dropout),
              nn.Linear(narrow, outputs)]
    return Task(nn.Sequential(*parts), lambda p, y, _: F.l1_loss(p, y),
                fed(noise(channels, size, size, size), noise(outputs)))
