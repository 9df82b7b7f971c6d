#include "isobar/comm_mpi/mapped_memory.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "isobar/base/descriptor.hpp"
#include "isobar/comm/collectives.hpp"

namespace isobar::comm_mpi {
namespace {

class MappedMemory final : public comm::SharedMemory {
 public:
  MappedMemory(std::byte* first, std::size_t bytes, std::size_t stride, std::size_t total)
      : first_(first), bytes_(bytes), stride_(stride), total_(total) {}
  ~MappedMemory() override { munmap(first_, total_); }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  std::span<std::byte> part(int rank) const override { return {first_ + stride_ * rank, bytes_}; }

 private:
  std::byte* first_;
  std::size_t bytes_, stride_, total_;
};

// What the host still has available, in bytes. The kernel would take memory for a file until it must kill processes.
std::size_t available() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word)
    if (std::size_t kilobytes = 0; word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  return std::numeric_limits<std::size_t>::max();
}

std::string problem() { return std::strerror(errno); }

// Throws the message of the lowest rank that has one, on all ranks. No rank gets past this before the first rank has
// heard from all: if the first dies before another has found its file, all wait here until its death is reported.
void agree(comm::Comm& comm, const std::string& problem) {
  const auto all = all_gather(comm, std::as_bytes(std::span(problem)));
  for (int rank = 0; rank < comm.size(); ++rank) {
    const comm::Bytes& text = all[rank];
    if (text.empty()) continue;
    fail("memory shared on one node: rank {} {}", comm.members()[rank],
         std::string(reinterpret_cast<const char*>(text.data()), text.size()));
  }
}

}  // namespace

std::shared_ptr<comm::SharedMemory> map_memory(comm::Comm& comm, std::size_t bytes) {
  const std::size_t page = sysconf(_SC_PAGESIZE), size = comm.size();
  if (bytes > std::numeric_limits<std::size_t>::max() / 2 / size)
    fail("{} bytes for each of {} ranks are too many", bytes, size);
  const std::size_t stride = bytes == 0 ? page : (bytes + page - 1) / page * page, total = stride * size;

  // The first rank makes the file; the others find it among its open files.
  std::int64_t place[2] = {getpid(), -1};
  std::string trouble;
  if (comm.rank() == 0) {
    place[1] = memfd_create("isobar", MFD_CLOEXEC);
    if (const std::size_t most = available(); total > most)
      trouble = fmt::format("requests {} bytes for all ranks; the host has {}", total, most);
    else if (place[1] < 0 || ftruncate(place[1], total) != 0)
      trouble = fmt::format("cannot make a file of {} bytes in memory: {}", total, problem());
  }
  const Descriptor made(place[1]);
  agree(comm, trouble);
  comm::Bytes told(sizeof place);
  std::memcpy(told.data(), place, sizeof place);
  broadcast(comm, told);
  std::memcpy(place, told.data(), sizeof place);
  const std::string path = fmt::format("/proc/{}/fd/{}", place[0], place[1]);
  const Descriptor opened(comm.rank() == 0 ? -1 : open(path.c_str(), O_RDWR | O_CLOEXEC));
  const int file = comm.rank() == 0 ? *made : *opened;

  std::shared_ptr<comm::SharedMemory> memory;
  // Every rank allocates its own part: it exists before it is needed, and is close to its owner.
  if (file < 0) trouble = fmt::format("cannot open {}: {}", path, problem());
  else if (fallocate(file, 0, stride * comm.rank(), stride) != 0)
    trouble = fmt::format("cannot take {} bytes: {}", stride, problem());
  else if (void* first = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0); first == MAP_FAILED)
    trouble = fmt::format("cannot map {} bytes: {}", total, problem());
  else memory = std::make_shared<MappedMemory>(static_cast<std::byte*>(first), bytes, stride, total);
  agree(comm, trouble);
  return memory;
}

}  // namespace isobar::comm_mpi
