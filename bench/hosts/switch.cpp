// A switch for emulated hosts that adds what the kernel here cannot (it has no netem): delay. One TAP device per port;
// every frame leaves its sender's link at the given rate, travels for the given time, and enters the receiver's link at
// the same rate. Usage: switch RATE_BITS_PER_SECOND DELAY_MICROSECONDS DEVICE... ; says "ready" once it forwards.
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Address = std::array<unsigned char, 6>;

struct Frame {
  Clock::time_point due;
  std::shared_ptr<const std::vector<unsigned char>> bytes;
};

struct Port {
  int device = -1;
  Clock::time_point sends_until{}, receives_until{};  // when its link is free again
  std::deque<Frame> waiting;
  std::condition_variable changed;
};

std::mutex mutex;  // guards everything below, and the ports
std::vector<std::unique_ptr<Port>> ports;
std::map<Address, std::size_t> known;  // which port an address was seen at
double seconds_per_byte = 0;
Clock::duration delay{};
constexpr std::size_t most_waiting = 4096;  // frames of a port; more are dropped, as a switch does

int open_device(const char* name) {
  const int device = open("/dev/net/tun", O_RDWR);
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  if (device < 0 || ioctl(device, TUNSETIFF, &request) != 0) {
    std::perror(name);
    std::exit(1);
  }
  return device;
}

void enqueue(Port& to, Clock::time_point arrives, Clock::duration length,
             const std::shared_ptr<const std::vector<unsigned char>>& bytes) {
  if (to.waiting.size() >= most_waiting) return;
  to.receives_until = std::max(arrives, to.receives_until + length);
  to.waiting.push_back({to.receives_until, bytes});
  to.changed.notify_one();
}

void forward(std::size_t from, std::vector<unsigned char> frame) {
  const auto length =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_per_byte * frame.size()));
  const auto bytes = std::make_shared<const std::vector<unsigned char>>(std::move(frame));
  Address target, source;
  std::memcpy(target.data(), bytes->data(), 6);
  std::memcpy(source.data(), bytes->data() + 6, 6);
  const std::lock_guard lock(mutex);
  known[source] = from;
  Port& sender = *ports[from];
  sender.sends_until = std::max(Clock::now(), sender.sends_until) + length;
  const auto found = known.find(target);
  for (std::size_t to = 0; to < ports.size(); ++to)
    if (to != from && (found == known.end() || (target[0] & 1) || found->second == to))
      enqueue(*ports[to], sender.sends_until + delay, length, bytes);
}

void read_port(std::size_t number) {
  std::vector<unsigned char> frame(65536);
  while (true) {
    const ssize_t got = read(ports[number]->device, frame.data(), frame.size());
    if (got >= 14) forward(number, {frame.begin(), frame.begin() + got});
    // A sender faster than its link has to wait: it blocks when the device's own queue is full.
    Clock::time_point until;
    {
      const std::lock_guard lock(mutex);
      until = ports[number]->sends_until;
    }
    if (until > Clock::now() + std::chrono::microseconds(200)) std::this_thread::sleep_until(until);
  }
}

void write_port(Port& port) {
  while (true) {
    Frame frame;
    {
      std::unique_lock lock(mutex);
      port.changed.wait(lock, [&] { return !port.waiting.empty(); });
      frame = std::move(port.waiting.front());
      port.waiting.pop_front();
    }
    if (frame.due > Clock::now()) std::this_thread::sleep_until(frame.due);
    if (write(port.device, frame.bytes->data(), frame.bytes->size()) < 0 && errno != EIO && errno != EINVAL)
      std::perror("write");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: switch BITS_PER_SECOND DELAY_MICROSECONDS DEVICE DEVICE...\n");
    return 2;
  }
  seconds_per_byte = 8 / std::atof(argv[1]);
  delay = std::chrono::microseconds(std::atol(argv[2]));
  for (int i = 3; i < argc; ++i) {
    ports.push_back(std::make_unique<Port>());
    ports.back()->device = open_device(argv[i]);
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    threads.emplace_back(read_port, i);
    threads.emplace_back([i] { write_port(*ports[i]); });
  }
  std::puts("ready");
  std::fflush(stdout);
  for (std::thread& thread : threads) thread.join();
}
