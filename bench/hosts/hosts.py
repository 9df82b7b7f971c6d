"""Emulated hosts: network namespaces on a bridge, each behind a link of limited bandwidth and added delay.

Needs root. Everything lives in namespaces made here and removed at the end; no address outside them is used.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
AGENT = os.path.join(HERE, "agent")
BRIDGE, NETWORK = "isobar0", "10.9.0"


def run(line, check=True):
    return subprocess.run(line.split(), check=check, capture_output=True, text=True)


class Hosts:
    """`count` hosts named isobar1, isobar2, ... for as long as the with statement lasts.

    Without delay their links are limited by the kernel (tbf); with delay, in microseconds one way, by switch.cpp.
    """

    def __init__(self, count, bits_per_second=1e9, delay=0):
        self.count, self.rate, self.delay, self.switch = count, int(bits_per_second), delay, None

    def __enter__(self):
        if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("tc"):
            sys.exit("emulated hosts need root and the package iproute2")
        self.remove()
        try:
            for i in range(1, self.count + 1):
                run(f"ip netns add isobar{i}")
            (self.connect_delayed if self.delay else self.connect)()
            for i in range(1, self.count + 1):
                host = f"isobar{i}"
                run(f"ip -n {host} link set lo up")
                run(f"ip -n {host} addr add {NETWORK}.{i}/24 dev eth0")
                run(f"ip -n {host} link set eth0 up")
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def connect(self):
        run(f"ip link add {BRIDGE} type bridge")
        run(f"ip addr add {NETWORK}.254/24 dev {BRIDGE}")
        run(f"ip link set {BRIDGE} up")
        for i in range(1, self.count + 1):
            run(f"ip link add {BRIDGE}v{i} type veth peer name eth0 netns isobar{i}")
            run(f"ip link set {BRIDGE}v{i} master {BRIDGE} up")
            limit = f"root tbf rate {self.rate}bit burst 128kb limit 4mb"
            run(f"tc -n isobar{i} qdisc add dev eth0 {limit}")
            run(f"tc qdisc add dev {BRIDGE}v{i} {limit}")

    def connect_delayed(self):
        program = os.path.join(tempfile.gettempdir(), f"isobar-switch-{os.getpid()}")
        run(f"g++ -O2 -std=c++20 -pthread {os.path.join(HERE, 'switch.cpp')} -o {program}")
        devices = [BRIDGE] + [f"{BRIDGE}v{i}" for i in range(1, self.count + 1)]
        self.switch = subprocess.Popen([program, str(self.rate), str(self.delay)] + devices, stdout=subprocess.PIPE,
                                       text=True)
        self.switch.stdout.readline()
        os.remove(program)
        run(f"ip addr add {NETWORK}.254/24 dev {BRIDGE}")
        run(f"ip link set {BRIDGE} mtu 9000 up")
        for i in range(1, self.count + 1):
            run(f"ip link set {BRIDGE}v{i} mtu 9000 netns isobar{i} name eth0")

    def remove(self):
        if self.switch:
            self.switch.kill()
            self.switch.wait()
            self.switch = None
        for i in range(1, 65):
            if not os.path.exists(f"/run/netns/isobar{i}"):
                break
            run(f"ip link del {BRIDGE}v{i}", check=False)
            run(f"ip netns del isobar{i}", check=False)
        run(f"ip link del {BRIDGE}", check=False)

    def launch(self, per_host=1, hosts=None, dealt=False):
        """The words that start a program with `per_host` ranks on each host, and their environment.

        Ranks that follow each other share a host; dealt out, they go round the hosts, as --map-by node does.
        """
        names = [f"{NETWORK}.{i}" for i in range(1, (hosts or self.count) + 1)]
        words = ["mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", AGENT, "-hosts",
                 ",".join(f"{name}:{1 if dealt else per_host}" for name in names), "-localhost", f"{NETWORK}.254", "-iface", BRIDGE,
                 "-n", str(per_host * len(names))]
        environment = dict(os.environ, UCX_TLS="tcp,self,posix,sysv", UCX_NET_DEVICES="eth0")
        if per_host == 1:
            environment["ISOBAR_CORE_EACH"] = "1"
        return words, environment
