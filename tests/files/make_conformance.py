#!/usr/bin/python3
# make_conformance.py FOLDER: NumPy files in FOLDER/npy, with a manifest, and TFRecords in FOLDER/tfrecord, with the
# structures, and under the names, of the public files that the tests also read where they are. Written here byte by
# byte from the descriptions of the formats, so that neither our writers nor a library are asked.
import csv
import itertools
import struct
import sys
import zipfile
import zlib
from pathlib import Path

LETTERS = {"b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q",
           "f2": "e", "f4": "f", "f8": "d", "c8": "f", "c16": "d"}


def packed(kind, order, values):
    return struct.pack(f"{'>' if order == '>' else '<'}{len(values)}{LETTERS[kind]}", *values)


def values_of(kind, count):
    """Numbers that fill their type: both ends of whole ones, halves and signs of others."""
    if kind == "b1":
        return [i % 3 == 0 for i in range(count)]
    if kind[0] in "iu":
        bits = 8 * int(kind[1:])
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "i" else (0, (1 << bits) - 1)
        return [low, high, *(low + (high - low) // 97 * i for i in range(2, count))]
    count *= 2 if kind[0] == "c" else 1
    return [(i - 7) * 0.5 + (i % 5) * 0.125 for i in range(count)]


def fortran(values, shape):
    """Values in C order, in Fortran order: the first index runs fastest."""
    at = [sum(i * stride for i, stride in zip(index, strides(shape))) for index in indices(shape[::-1])]
    return [values[i] for i in at]


def indices(reversed_shape):
    return (index[::-1] for index in itertools.product(*map(range, reversed_shape)))


def strides(shape):
    steps = [1]
    for extent in shape[:0:-1]:
        steps.append(steps[-1] * extent)
    return steps[::-1]


def npy(descr, shape, data, turned=False, version=(1, 0), encoding="latin1"):
    quoted = descr if descr.startswith("[") else f"'{descr}'"
    extents = "".join(f"{n}, " for n in shape).rstrip() if len(shape) == 1 else ", ".join(map(str, shape))
    text = f"{{'descr': {quoted}, 'fortran_order': {turned}, 'shape': ({extents}), }}".encode(encoding)
    length = "<H" if version[0] == 1 else "<I"
    begin = 8 + struct.calcsize(length)
    text += b" " * (-(begin + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes(version) + struct.pack(length, len(text)) + text + data


class Cases:
    """Files of a folder, and the lines that tell what is in them."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self.lines = []

    def add(self, name, content, descr="", shape="", order="", version="", plain=None, note=""):
        (self.folder / name).write_bytes(content)
        check = "" if plain is None else f"{zlib.crc32(plain):08x}"
        self.lines.append([name, descr, shape, order, version, check, note])

    def numbers(self, name, kind, order, shape, values=None, turned=False, version=1):
        count = 1
        for extent in shape:
            count *= extent
        values = values_of(kind, count) if values is None else values
        if turned and kind[0] == "c":
            pairs = fortran(list(zip(values[::2], values[1::2])), shape)
            stored = [part for pair in pairs for part in pair]
        else:
            stored = fortran(values, shape) if turned else values
        content = npy(order + kind, shape, packed(kind, order, stored), turned, (version, 0), "utf8")
        text = "x".join(map(str, shape)) or "scalar"
        self.add(name, content, order + kind, text, "F" if turned else "C", f"{version}.0", packed(kind, "<", values))

    def finish(self):
        head = ["file", "dtype", "shape", "order", "version", "crc32_of_C_order_little_endian_bytes", "note"]
        with open(self.folder / "manifest.csv", "w", newline="") as file:
            file.write(",".join(head) + "\n")
            csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(self.lines)


def make_npy(folder):
    cases = Cases(folder)
    for kind in LETTERS:
        for order in "|" if kind[1:] == "1" else "<>":
            middle = {"|": "", "<": "le_", ">": "be_"}[order]
            for turned in (False, True):
                cases.numbers(f"{'f' if turned else 'c'}_{middle}{kind}.npy", kind, order, (3, 4, 5), turned=turned)
    cases.numbers("scalar_f4.npy", "f4", "<", ())
    cases.numbers("empty_0.npy", "f4", "<", (0,))
    cases.numbers("empty_3x0x2.npy", "f8", "<", (3, 0, 2))
    cases.numbers("vec_f4_1.npy", "f4", "<", (1,))
    cases.numbers("dim5_f4.npy", "f4", "<", (2, 3, 1, 4, 2))
    cases.numbers("dim5_f4_F.npy", "f4", "<", (2, 3, 1, 4, 2), turned=True)
    infinite, nothing = float("inf"), float("nan")
    special = [infinite, -infinite, nothing, -0.0, 1e-45, 1.1754943508222875e-38, 3.4028234663852886e38, 0.0]
    cases.numbers("special_f4.npy", "f4", "<", (8,), special)
    cases.numbers("special_f2.npy", "f2", "<", (7,), [infinite, -infinite, nothing, -0.0, 6e-8, 6.104e-5, 65504.0])
    for version in (1, 2, 3):
        cases.numbers(f"v{version}.npy", "f4", "<", (7, 3), version=version)
    cases.add("str_S.npy", npy("|S11", (3,), b"a text....." * 3), "|S11", "3", "C", "1.0")
    cases.add("str_U.npy", npy("<U3", (3,), "abc".encode("utf-32-le") * 3), "<U3", "3", "C", "1.0")
    fields = "[('a', '<i4'), ('b', '<f8')]"
    cases.add("struct.npy", npy(fields, (2,), struct.pack("<idid", 1, 0.5, 2, 1.5)), fields, "2", "C", "1.0")
    for name, method in (("two.npz", zipfile.ZIP_STORED), ("two_deflate.npz", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(folder / name, "w", method) as archive:
            archive.writestr("x.npy", (folder / "v1.npy").read_bytes())
            archive.writestr("y.npy", npy("<i8", (10,), packed("i8", "<", list(range(10)))))
        cases.lines.append([name, "zip", "x:<f4 7x3;y:<i8 10", "C", "", "", ""])
    good = (folder / "v1.npy").read_bytes()
    four = bytes(16)
    for name, content, note in (
        ("bad_magic.npy", b"\x93NUMPX" + good[6:], "magic"),
        ("bad_version.npy", good[:6] + b"\x09\x00" + good[8:], "version 9.0"),
        ("bad_truncated.npy", good[:-5], "data truncated"),
        ("bad_header_trunc.npy", good[:40], "header truncated"),
        ("bad_header_len.npy", good[:8] + b"\xff\xff" + good[10:], "header length past the end"),
        ("bad_dtype.npy", npy("<q7", (4,), four), "unknown dtype"),
        ("bad_shape_neg.npy", npy("<f4", (-4,), four), "negative shape"),
        ("bad_shape_huge.npy", npy("<f4", (1 << 40, 4), four), "shape bigger than data"),
        ("bad_empty.npy", b"", "empty file"),
    ):
        cases.add(name, content, note="MUST FAIL: " + note)
    cases.finish()


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, content):
    """A field of a protobuf message that holds bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def floats(values):
    return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))


def wholes(values):
    return field(3, field(1, b"".join(map(varint, values))))


def text(value):
    return field(1, field(1, value))


def named(pairs):
    """A map from names to messages, as protobuf writes maps."""
    return b"".join(field(1, field(1, name) + field(2, content)) for name, content in pairs)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def record(data):
    def sealed(part):
        crc = crc32c(part)
        return part + struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    return sealed(struct.pack("<Q", len(data))) + sealed(data)


def make_tfrecord(folder):
    folder.mkdir(parents=True)
    examples, sequences = b"", b""
    for i in range(4):
        x = [10.0 * i + k for k in range(10)]
        tens = [int(10 * value) for value in x]
        features = [(b"x_int", wholes(tens)), (b"x_float", floats(x)), (b"x_byte", text(b"test str"))]
        features = features[i % 3 :] + features[: i % 3]  # maps have no order
        context = field(1, named(features))
        steps = 2 * i + 3
        lists = named(
            [
                (b"x_byte_seq", field(1, text(b"test str")) * steps),
                (b"x_float_seq", field(1, floats(x)) * steps),
                (b"x_int_seq", field(1, wholes(tens)) * steps),
            ]
        )
        examples += record(context)
        sequences += record(context + field(2, lists))
    (folder / "example.tfrecord").write_bytes(examples)
    (folder / "sequence_example.tfrecord").write_bytes(sequences)


make_npy(Path(sys.argv[1], "npy"))
make_tfrecord(Path(sys.argv[1], "tfrecord"))
