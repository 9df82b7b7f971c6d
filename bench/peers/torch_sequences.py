"""Networks on sequences in PyTorch: GPT and the LSTM classifier."""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch_task import Task, classes, fed, noise


class Attention(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads, self.qkv, self.projection = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("later", torch.ones(context, context, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = (part.view(n, t, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(c, dim=2))
        weights = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(q.shape[-1]))
        weights = weights.masked_fill(self.later[:t, :t], -math.inf).softmax(-1)
        return self.projection((weights @ v).transpose(1, 2).reshape(n, t, c))


class Block(nn.Module):
    def __init__(self, width, heads, context, dropout):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.dropout = Attention(width, heads, context), nn.Dropout(dropout)
        self.hidden = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"),
                                    nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm1(x)))
        return x + self.dropout(self.hidden(self.norm2(x)))


class Gpt(nn.Module):
    def __init__(self, layers, heads, width, context, vocabulary, dropout):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Parameter(0.02 * torch.randn(context, width))
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.blocks = nn.Sequential(*(Block(width, heads, context, dropout) for _ in range(layers)))
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropout)

    def forward(self, x):
        h = self.dropout(self.tokens(x) + self.places)
        return F.linear(self.norm(self.blocks(h)), self.tokens.weight)


def gpt(layers=4, heads=4, width=128, context=128, vocabulary=256, dropout=0):
    """See isobar/zoo/gpt.cpp."""
    return Task(Gpt(layers, heads, width, context, vocabulary, dropout),
                lambda p, y, _: F.cross_entropy(p.view(-1, vocabulary), y.view(-1)),
                fed(classes(vocabulary, context), classes(vocabulary, context)))


def gpt2_small(layers=12, heads=12, width=768, context=1024, vocabulary=50257, dropout=0):
    """See isobar/zoo/gpt2_small.cpp."""
    return gpt(layers, heads, width, context, vocabulary, dropout)


class LstmClassifier(nn.Module):
    def __init__(self, features, units, hidden, kinds, vocabulary, train_embedding, sigmoid):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, features) if vocabulary else None
        if vocabulary and not train_embedding:
            self.embedding.weight.requires_grad_(False)
        self.lstm = nn.LSTM(features, units, num_layers=2, batch_first=True)
        for name, bias in self.lstm.named_parameters():  # the second bias of a layer says nothing the first does not
            if name.startswith("bias_hh"):
                bias.requires_grad_(False).zero_()
        self.norm = nn.BatchNorm1d(units, eps=1e-3, momentum=0.01)
        self.hidden, self.kinds, self.sigmoid = nn.Linear(units, hidden), nn.Linear(hidden, kinds), sigmoid

    def forward(self, x):
        h = self.embedding(x) if self.embedding is not None else x
        h = self.norm(self.lstm(h)[0][:, -1])
        h = self.kinds(F.relu(self.hidden(h), inplace=True))
        return F.logsigmoid(h) if self.sigmoid else h


def lstm_classifier(length=128, features=200, units=200, hidden=32, classes=104, vocabulary=0, train_embedding=False,
                    output="sigmoid"):
    """See isobar/zoo/lstm_classifier.cpp."""
    network = LstmClassifier(features, units, hidden, classes, vocabulary, train_embedding, output == "sigmoid")
    numbers = (lambda n: torch.randint(vocabulary, (n, length))) if vocabulary else noise(length, features)
    return Task(network, lambda p, y, _: F.cross_entropy(p, y), fed(numbers, lambda n: torch.randint(classes, (n,))))
