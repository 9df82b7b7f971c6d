# The peer of our HDF5 reader: h5py, one thread, reading a file sample by sample into one array. Speaks the line protocol
# of isobar/bench/contestant.hpp; a "step" reads the whole file once.
import argparse
import resource
import sys
import time

import h5py
import numpy

parser = argparse.ArgumentParser()
parser.add_argument("--file", required=True)
parser.add_argument("--array", required=True)
arguments = parser.parse_args()

file = h5py.File(arguments.file, "r")
array = file[arguments.array]
sample = numpy.empty(array.shape[1:], array.dtype)
print(f"ready h5py {h5py.__version__}, 1 thread", flush=True)
for line in sys.stdin:
    words = line.split()
    if words[0] == "memory":
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, flush=True)
        continue
    seconds = []
    for _ in range(int(words[1])):
        begin = time.perf_counter()
        for index in range(array.shape[0]):
            array.read_direct(sample, numpy.s_[index])
        seconds.append(time.perf_counter() - begin)
    print(*(f"{s:.9f}" for s in seconds), flush=True)
