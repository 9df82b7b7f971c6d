"""Networks on climate images in PyTorch: Tiramisu, DeepLabv3+, DeepCAM and the detector of extreme weather.

Layers of stride 2 that isobar pads as TensorFlow does ("same") are padded by half their kernel on both sides here: the
same arithmetic on an image shifted by a pixel, without a separate padding pass.
"""
import torch
import torch.nn.functional as F
from torch import nn
from torch_task import Task, classes as class_numbers, fed, noise, scaled


def exascale_loss(count):
    """Per-pixel cross entropy summed over pixels, weighted by how rare a class is; see isobar/zoo/segmentation.cpp."""
    weights = None
    if count == 3:
        weights = torch.tensor([1 / 0.991, 1 / 0.0266, 1 / 0.13])
        weights /= weights.sum()
    return lambda p, y, _: 0.1 * F.cross_entropy(p, y, weights, reduction="sum")


def segmentation(network, loss, channels, count, height, width):
    return Task(network, loss, fed(noise(channels, height, width), class_numbers(count, height, width)))


class Layer(nn.Module):
    """A convolution of Tiramisu with ReLU and dropout."""

    def __init__(self, c, filters, kernel, stride, dropout):
        super().__init__()
        self.conv = nn.Conv2d(c, filters, kernel, stride, (kernel - 1) // 2)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.dropout(F.relu(self.conv(x), inplace=True))


class DenseBlock(nn.Module):
    def __init__(self, c, count, growth, kernel, dropout):
        super().__init__()
        self.layers = nn.ModuleList([Layer(c + i * growth, growth, kernel, 1, dropout) for i in range(count)])

    def forward(self, x):
        """The maps its layers add, and those behind its input."""
        added = []
        for layer in self.layers:
            added.append(layer(x))
            x = torch.cat([x, added[-1]], 1)
        return added[0] if len(added) == 1 else torch.cat(added, 1), x


class Tiramisu(nn.Module):
    def __init__(self, channels, count, filters, growth, kernel, blocks, dropout):
        super().__init__()
        self.stem, c, skips = Layer(channels, filters, kernel, 1, dropout), filters, []
        self.down, self.reduce, self.enlarge, self.up = (nn.ModuleList() for _ in range(4))
        for i, layers in enumerate(blocks):
            self.down.append(DenseBlock(c, layers, growth, kernel, dropout))
            c += layers * growth
            if i + 1 < len(blocks):
                skips.append(c)
                self.reduce.append(Layer(c, c, 1, 2, dropout))
        added = blocks[-1] * growth
        for skip, layers in zip(reversed(skips), reversed(blocks[:-1])):
            self.enlarge.append(nn.ConvTranspose2d(added, added, 3, 2, 1, 1))
            self.up.append(DenseBlock(added + skip, layers, growth, kernel, dropout))
            c, added = added + skip + layers * growth, layers * growth
        self.classes = nn.Sequential(nn.Conv2d(c, count, 1), nn.Dropout(dropout))

    def forward(self, x):
        h, skips, added = self.stem(x), [], None
        for i, block in enumerate(self.down):
            added, h = block(h)
            if i < len(self.reduce):
                skips.append(h)
                h = self.reduce[i](h)
        for enlarge, block in zip(self.enlarge, self.up):
            added, h = block(torch.cat([enlarge(added), skips.pop()], 1))
        return self.classes(h)


def tiramisu(height=768, width=1152, channels=16, classes=3, filters=64, growth=32, kernel=5, blocks=(2, 2, 2, 4, 5),
             dropout=0.2):
    """See isobar/zoo/tiramisu.cpp."""
    network = Tiramisu(channels, classes, filters, growth, kernel, list(blocks), dropout)
    return segmentation(network, exascale_loss(classes), channels, classes, height, width)


class Halved(nn.Module):
    """Stands where a batch normalisation is left out; works in place behind a convolution."""

    def __init__(self, inplace):
        super().__init__()
        self.inplace = inplace

    def forward(self, x):
        return x.mul_(0.5) if self.inplace else x * 0.5


def block(batch_norm, c, filters, kernel=1, **geometry):
    """A convolution without bias, normalised and rectified."""
    norm = nn.BatchNorm2d(filters, momentum=0.0003) if batch_norm else Halved(True)
    return nn.Sequential(nn.Conv2d(c, filters, kernel, bias=False, **geometry), norm, nn.ReLU(inplace=True))


class ResidualUnit(nn.Module):
    def __init__(self, batch_norm, c, base, first, stride, rate):
        super().__init__()
        self.entry = (nn.Sequential(nn.BatchNorm2d(c, momentum=0.0003), nn.ReLU(inplace=True)) if batch_norm else
                      Halved(False))
        self.stride, self.skip = stride, nn.Conv2d(c, 4 * base, 1, stride) if first else None
        self.a = block(batch_norm, c, base)
        self.b = block(batch_norm, base, base, 3, stride=stride, dilation=rate, padding=rate)
        self.c = nn.Conv2d(base, 4 * base, 1)

    def forward(self, x):
        """Its sum, and the first reduced features on the way."""
        entry = self.entry(x)
        low = self.a(entry)
        skip = self.skip(entry) if self.skip is not None else x[:, :, ::self.stride, ::self.stride]
        return self.c(self.b(low)) + skip, low


class DeepLabV3Plus(nn.Module):
    def __init__(self, channels, count, scale, units, batch_norm):
        super().__init__()
        filters, c = scaled(256, scale), scaled(64, scale)
        self.root = nn.Sequential(nn.Conv2d(channels, c, 7, 2, 3), nn.MaxPool2d(3, 2, 1))
        self.units, self.low_unit = nn.ModuleList(), units[0] - 1
        for b, rate in enumerate([1, 1, 2, 4]):
            base = scaled(64 << b, scale)
            for u in range(units[b]):
                halves = b == 0 and u + 1 == units[0]
                self.units.append(ResidualUnit(batch_norm, c, base, u == 0, 2 if halves else 1, rate))
                c = 4 * base
        self.postnorm = nn.BatchNorm2d(c, momentum=0.0003) if batch_norm else None  # read by nobody, as in the source
        self.pyramid = nn.ModuleList([block(batch_norm, c, filters)] + [
            block(batch_norm, c, filters, 3, dilation=rate, padding=rate) for rate in (12, 24, 36)])
        self.image = nn.Sequential(nn.AdaptiveAvgPool2d(1), block(batch_norm, c, filters))
        self.join = block(batch_norm, 5 * filters, filters)
        skip, wide = scaled(64, scale), scaled(128, scale)
        self.low = block(batch_norm, scaled(64, scale), scaled(48, scale))
        self.enlarge = nn.ModuleList([nn.ConvTranspose2d(filters, filters, 3, 2, 1, 1) for _ in range(3)])
        self.decoder = nn.Sequential(block(batch_norm, filters + scaled(48, scale), filters, 3, padding=1),
                                     block(batch_norm, filters, filters, 3, padding=1))
        self.input = nn.Sequential(nn.Conv2d(channels, skip, 3, padding=1), nn.Conv2d(skip, wide, 3, padding=1))
        self.last = nn.Sequential(nn.Conv2d(filters + wide, filters, 3, padding=1),
                                  nn.Conv2d(filters, filters, 3, padding=1), nn.Conv2d(filters, count, 1))

    def forward(self, x):
        h = self.root(x)
        for i, unit in enumerate(self.units):
            h, reduced = unit(h)
            if i == self.low_unit:
                low = reduced
        branches = [branch(h) for branch in self.pyramid]
        branches.append(self.image(h).expand(-1, -1, *h.shape[2:]))
        h = self.join(torch.cat(branches, 1))
        h = self.decoder(torch.cat([self.enlarge[0](h), self.low(low)], 1))
        h = self.enlarge[2](self.enlarge[1](h))
        return self.last(torch.cat([h, self.input(x)], 1))


def deeplabv3plus(height=768, width=1152, channels=16, classes=3, scale=1, units=(3, 4, 6, 3), batch_norm=False):
    """See isobar/zoo/deeplabv3plus.cpp."""
    network = DeepLabV3Plus(channels, classes, scale, units, batch_norm)
    return segmentation(network, exascale_loss(classes), channels, classes, height, width)


def normal_conv(c, filters, kernel=1, rectified=True, **geometry):
    parts = [nn.Conv2d(c, filters, kernel, bias=False, **geometry), nn.BatchNorm2d(filters)]
    return nn.Sequential(*parts, nn.ReLU(inplace=True)) if rectified else nn.Sequential(*parts)


def separable(c, filters, stride=1, dilation=1):
    return [nn.Conv2d(c, c, 3, stride, dilation, dilation, groups=c, bias=False), nn.Conv2d(c, filters, 1, bias=False)]


class XceptionBlock(nn.Module):
    def __init__(self, c, filters, layers, stride, grow_first=True, last=False, rectified=True):
        super().__init__()
        self.skip = (normal_conv(c, filters, 1, False, stride=stride) if filters != c or stride > 1 else nn.Identity())
        parts, width, self.rectified = [], c, rectified
        for i in range(layers):
            wide = filters if grow_first or i + 1 == layers else c
            parts += separable(width, wide) + [nn.BatchNorm2d(wide)]
            parts += [nn.ReLU(inplace=True)] if i + 1 < layers else []
            width = wide
        if stride > 1 or last:
            parts += separable(filters, filters, stride)
        self.body = nn.Sequential(*parts)

    def forward(self, x):
        h = self.body(x) + self.skip(x)
        return F.relu(h, inplace=True) if self.rectified else h


class DeepCam(nn.Module):
    def __init__(self, channels, count, scale, middle):
        super().__init__()
        s = lambda n: scaled(n, scale)  # noqa: E731
        self.stem = nn.Sequential(normal_conv(channels, s(32), 3, stride=2, padding=1),
                                  normal_conv(s(32), s(64), 3, padding=1), XceptionBlock(s(64), s(128), 2, 2))
        tail, c = [], s(1024)
        for filters in (s(1536), s(1536), s(2048)):
            tail += separable(c, filters, 1, 2) + [nn.BatchNorm2d(filters), nn.ReLU(inplace=True)]
            c = filters
        self.encoder = nn.Sequential(XceptionBlock(s(128), s(256), 2, 2), XceptionBlock(s(256), s(728), 2, 2),
                                     *(XceptionBlock(s(728), s(728), 3, 1) for _ in range(middle)),
                                     XceptionBlock(s(728), s(1024), 2, 1, False, True, False), *tail)
        filters = s(256)
        self.pyramid = nn.ModuleList([normal_conv(c, filters)] + [
            normal_conv(c, filters, 3, padding=rate, dilation=rate) for rate in (6, 12, 18)])
        self.pool, self.image = nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, filters, 1, bias=False)
        self.image_scale, self.image_shift = nn.Parameter(torch.ones(filters, 1, 1)), nn.Parameter(
            torch.zeros(filters, 1, 1))
        self.join, self.low = normal_conv(5 * filters, filters), normal_conv(s(128), s(48))
        self.enlarge12 = nn.Sequential(*self.enlarged(filters), *self.enlarged(filters))
        self.last = nn.Sequential(normal_conv(filters + s(48), filters, 3, padding=1),
                                  normal_conv(filters, filters, 3, padding=1), nn.Conv2d(filters, filters, 1),
                                  *self.enlarged(filters), nn.ConvTranspose2d(filters, count, 3, 2, 1, 1, bias=False))

    @staticmethod
    def enlarged(filters):
        return [nn.ConvTranspose2d(filters, filters, 3, 2, 1, 1, bias=False), nn.BatchNorm2d(filters),
                nn.ReLU(inplace=True)]

    def forward(self, x):
        low = self.stem(x)
        h = self.encoder(low)
        branches = [branch(h) for branch in self.pyramid]
        image = F.relu(self.image(self.pool(h)) * self.image_scale + self.image_shift, inplace=True)
        branches.append(image.expand(-1, -1, *h.shape[2:]))
        h = self.enlarge12(self.join(torch.cat(branches, 1)))
        return self.last(torch.cat([h, self.low(low)], 1))


def deepcam(height=768, width=1152, channels=16, classes=3, scale=1, middle=16):
    """See isobar/zoo/deepcam.cpp."""
    weights = None
    if classes == 3:
        weights = torch.tensor([0.986267818390377, 0.0004578708870701058, 0.01327431072255291])**-0.125

    def loss(p, y, _):
        return F.cross_entropy(p, y, weights, reduction="sum") / y.numel()

    return segmentation(DeepCam(channels, classes, scale, middle), loss, channels, classes, height, width)


def detection_loss_a(p, t):
    """Sums over cells of probabilities; see isobar/ops/detection_loss.cpp."""
    found = (t[:, 4:5] > 0).float()
    box = F.smooth_l1_loss(p[:, :4], t[:, :4], reduction="none")
    sums = 5 * box[:, :2].sum(1, keepdim=True) + 7 * box[:, 2:].sum(1, keepdim=True)
    sums = sums - torch.log(p[:, 4:5] + 1e-5) - (t[:, 6:] * torch.log(p[:, 6:] + 1e-5)).sum(1, keepdim=True)
    return (found * sums - 0.5 * (1 - found) * torch.log(p[:, 5:6] + 1e-5)).sum() / p.shape[0]


def detection_loss_b(p, t):
    """Means over cells of logits; see isobar/ops/detection_loss.cpp."""
    found = (t[:, 4] > 0).float()
    box = F.smooth_l1_loss(p[:, :4], t[:, :4], reduction="none").sum(1)
    kind = -(t[:, 6:] * F.log_softmax(p[:, 6:], 1)).sum(1)
    inside = (found * (box + kind)).sum((1, 2)) / found.sum((1, 2)).clamp(min=1)
    objectness = F.cross_entropy(p[:, 4:6], (1 - found).long(), reduction="none").mean((1, 2))
    return (inside + objectness * (found.sum((1, 2)) > 0)).mean()


class ClimateDetector(nn.Module):
    def __init__(self, tied, channels, count, widths, decodes):
        super().__init__()
        self.tied, self.decodes = tied, decodes
        table = [channels, *widths]
        self.encoder = nn.ModuleList([nn.Conv2d(i, o, 5, 2, 2) for i, o in zip(table, table[1:])])
        self.norm = nn.BatchNorm2d(widths[-1], eps=1e-4) if tied else None
        heads = [4, 2, count] if tied else [2, 2, 2, count]
        self.heads = nn.ModuleList([nn.Conv2d(widths[-1], maps, 3, padding=1) for maps in heads])
        self.decoder = None if tied or not decodes else nn.Sequential(
            *(nn.ConvTranspose2d(o, i, 5, 2, 2, 1) for i, o in reversed(list(zip(table, table[1:])))))

    def forward(self, x):
        code = x
        for layer in self.encoder:
            code = F.leaky_relu(layer(code), 0.1, inplace=True) if self.tied else F.relu(layer(code), inplace=True)
        if self.tied:
            normed = self.norm(code)
            box, item, kind = (head(normed) for head in self.heads)
            prediction = torch.cat([F.relu(box, inplace=True), item.softmax(1), kind.softmax(1)], 1)
        else:
            place, size, item, kind = (head(code) for head in self.heads)
            prediction = torch.cat([place, size, F.relu(item, inplace=True), F.relu(kind, inplace=True)], 1)
        if not self.decodes:
            return prediction, None
        if self.decoder is not None:
            return prediction, self.decoder(code)
        for layer in reversed(self.encoder):
            code = F.conv_transpose2d(code, layer.weight, None, 2, 2, 1)
        return prediction, code


def made_boxes(count, height, width):
    """One cell in ten holds an object of a class."""

    def make(n):
        t = torch.rand(n, 6 + count, height, width)
        found = torch.rand(n, height, width) < 0.1
        t[:, 4], t[:, 5] = found.float(), (~found).float()
        t[:, 6:] = F.one_hot(torch.randint(count, (n, height, width)), count).movedim(-1, 1) * t[:, 4:5]
        return t

    return make


def climate_detector(variant="a", height=768, width=None, channels=16, classes=4, scale=1, lambda_=None):
    """See isobar/zoo/climate_detector.cpp."""
    tied = variant == "a"
    width = width or (1152 if tied else 768)
    weight = (10 if tied else 0.1) if lambda_ is None else lambda_
    widths = [scaled(n, scale) for n in (128, 256, 512, 768, 1024, 1280)[:6 if tied else 5]]
    detection = detection_loss_a if tied else detection_loss_b

    def loss(p, y, x):
        total = detection(p[0], y)
        return total if p[1] is None else total + weight * F.mse_loss(p[1], x)

    step = 1 << len(widths)
    return Task(ClimateDetector(tied, channels, classes, widths, weight > 0), loss,
                fed(noise(channels, height, width), made_boxes(classes, height // step, width // step)))
