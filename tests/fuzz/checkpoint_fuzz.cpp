// Fuzzing the reader of checkpoints: any bytes become a Snapshot or an Error, and nothing else happens. Since a wrong
// check sum ends every reading at once, the same bytes are read again with the index, and then with all parts, made
// right. Built by `make fuzz` with clang's libFuzzer under the address and undefined sanitizers.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/checkpoint/checkpoint.hpp"
#include "isobar/files/crc32c.hpp"

#include "tests/fuzz/kept_blocks.hpp"
#include "tests/fuzz/small_network.hpp"

namespace {

using namespace isobar;

std::span<const std::uint8_t> raw(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// A file in memory with these bytes.
class File {
 public:
  explicit File(const std::string& bytes) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || write(descriptor_, bytes.data(), bytes.size()) != std::ssize(bytes)) std::abort();
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

void read(const std::string& bytes) {
  const File file(bytes);
  const checkpoint::CheckpointFile checkpoint(file.path());
  checkpoint.verify();
  const checkpoint::Snapshot snapshot = checkpoint.read();
  static exec::ParamStore store = fuzz::small_network();
  if (!snapshot.lists.empty() || snapshot.find("pieces/kept/shard/fc.w")) {
    fuzz::Kept kept(store);
    return restore(snapshot, store, kept.blocks(), 1, 2);
  }
  std::vector<float> block(store.all_gradients().size());
  std::vector<double> numbers(2), own(1);
  exec::StateBlocks state = fuzz::under_way(block, numbers);
  state.push_back(fuzz::own_numbers(own).front());
  restore(snapshot, store, state, 1, 2);
}

// The same with the right sum of its index, and of everything the index then names.
std::string with_index(const std::string& bytes) {
  const auto block = static_cast<std::size_t>(checkpoint::index_bytes(raw(bytes), std::ssize(bytes), "fuzz"));
  return checkpoint::seal_index(bytes.substr(0, block)) + bytes.substr(block);
}

// In the text of the index the sum is the fifth word of a line, in eight digits.
std::string with_parts(std::string bytes) {
  const auto block = static_cast<std::size_t>(checkpoint::index_bytes(raw(bytes), std::ssize(bytes), "fuzz"));
  const checkpoint::CheckpointIndex index = checkpoint::read_index(raw(bytes).first(block), std::ssize(bytes), "fuzz");
  std::size_t line = bytes.find("\n\n") + 2;
  for (const checkpoint::CheckpointIndex::Entry& entry : index.entries) {
    std::size_t word = line;
    for (int before = 0; before < 4; ++before) word = bytes.find(' ', word) + 1;
    const std::uint32_t sum = files::crc32c(
        raw(bytes).subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.bytes)));
    if (bytes.find(' ', word) == word + 8) bytes.replace(word, 8, fmt::format("{:08x}", sum));
    line = bytes.find('\n', line) + 1;
  }
  return with_index(bytes);
}

template <class Action>
void refused_or_done(Action action) {
  try {
    action();
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  refused_or_done([&] { read(bytes); });
  refused_or_done([&] { read(with_index(bytes)); });
  refused_or_done([&] { read(with_parts(with_index(bytes))); });
  return 0;
}
