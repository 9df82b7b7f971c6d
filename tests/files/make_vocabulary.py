#!/usr/bin/python3
# make_vocabulary.py FOLDER: a small vocabulary in GPT-2's files, learned from the licence of this tree, and a text with
# the tokens that another, plain encoder finds: the rule of GPT-2's paper, merge the pair learned first, taken literally.
import collections
import json
import re
import sys
import unicodedata
from pathlib import Path

MERGES = 400
SAMPLE = (
    "It's 12 o'clock; they're sure we've 1,000 m\u00b2 of it, I'd say. Don't!?  \n\n\tna\u00efve caf\u00e9s \u4e2d\u6587\u3002"
    " \u0417\u0434\u0440\u0430\u0432\u0441\u0442\u0432\u0443\u0439 \u03c0\u22483.14159 \u00bd \u2167 \u3000wide\u00a0space"
    " e\u0301 \U0001f600\U0001f600 'S 'll'll ''' a  b   c\r\nend of it   "
)
WORD = re.compile(r" ?L+| ?N+| ?O+|[ S]+(?![LNO])|[ S]+")  # over the classes of characters
CONTRACTION = re.compile(r"'(?:s|t|re|ve|m|ll|d)")


def classes(text):
    kinds = {"L": "L", "N": "N"}
    return "".join(
        " " if c == " " else "S" if c.isspace() else kinds.get(unicodedata.category(c)[0], "O") for c in text
    )


def words(text):
    kinds, at = classes(text), 0
    while at < len(text):
        found = CONTRACTION.match(text, at) or WORD.match(kinds, at)
        yield text[at : found.end()]
        at = found.end()


def signs():
    """The character that stands for each byte in GPT-2's files: itself where it can be seen."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(b) if b in seen else chr(next(others)) for b in range(256)]


SIGNS = signs()


def merged(parts, pair):
    """The parts of a word with every occurrence of a pair, from the left, made one."""
    out, at = [], 0
    while at < len(parts):
        taken = 2 if tuple(parts[at : at + 2]) == pair else 1
        out.append("".join(parts[at : at + taken]))
        at += taken
    return out


def learn(text):
    counts = collections.Counter(tuple(SIGNS[b] for b in word.encode()) for word in words(text))
    merges = []
    while len(merges) < MERGES:
        pairs = collections.Counter()
        for parts, count in counts.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += count
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        again = collections.Counter()
        for parts, count in counts.items():
            again[tuple(merged(parts, best))] += count
        counts = again
    return merges


def encode(text, ranks, numbers):
    for word in words(text):
        parts = [SIGNS[b] for b in word.encode()]
        while len(parts) > 1:
            best = min(zip(parts, parts[1:]), key=lambda pair: ranks.get(pair, len(ranks)))
            if best not in ranks:
                break
            parts = merged(parts, best)
        yield from (numbers[part] for part in parts)


def make(folder):
    folder.mkdir(parents=True)
    licence = (Path(__file__).resolve().parents[2] / "LICENSE").read_text()
    merges = learn(licence + SAMPLE)
    tokens = [*SIGNS, *(left + right for left, right in merges), "<|endoftext|>"]
    numbers = {token: number for number, token in enumerate(tokens)}
    (folder / "encoder.json").write_text(json.dumps(numbers))
    pairs = "".join(f"{left} {right}\n" for left, right in merges)
    (folder / "vocab.bpe").write_text("#version: 0.2\n" + pairs, encoding="utf8")
    text = SAMPLE + licence + SAMPLE
    (folder / "text").write_bytes(text.encode())
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    (folder / "tokens").write_text(" ".join(map(str, encode(text, ranks, numbers))) + "\n")


make(Path(sys.argv[1]))
