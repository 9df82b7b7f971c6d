#include "isobar/files/lmdb_file.hpp"

#include <algorithm>
#include <bit>

#include "isobar/base/error.hpp"

namespace isobar::files {
namespace {

namespace fs = std::filesystem;
using LmdbBytes = std::span<const std::uint8_t>;

// The format of version 1 on 64-bit machines, little-endian. A page begins with its number, flags, and the ends of the
// list of nodes and of the free space; pages 0 and 1 are the two heads, of which the one with the later transaction is
// valid.
constexpr std::size_t page_header = 16, node_header = 8;
constexpr std::size_t flags_at = 10, lower_at = 12, pages_at = 12;
constexpr std::size_t magic_at = 16, version_at = 20, page_size_at = 40, main_at = 88, last_page_at = 136,
                      transaction_at = 144, head_bytes = 152;
constexpr std::size_t table_flags_at = 4, depth_at = 6, entries_at = 32, root_at = 40;  // from main_at
constexpr std::uint16_t is_branch = 1, is_leaf = 2, is_overflow = 4, is_head = 8;
constexpr std::uint16_t apart = 1, sub_table = 2, duplicates = 4;  // of nodes
constexpr std::uint16_t sorted_duplicates = 4;                     // of tables
constexpr int most_levels = 32;

template <class T>
T number(LmdbBytes bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | static_cast<T>(bytes[at + i]) << 8 * i);
  return value;
}

bool is_sound_head(LmdbBytes page) {
  return page.size() >= head_bytes && (number<std::uint16_t>(page, flags_at) & is_head) &&
         number<std::uint32_t>(page, magic_at) == 0xBEEFC0DEu && number<std::uint32_t>(page, version_at) == 1;
}

fs::path data_file(const fs::path& path) {
  std::error_code code;
  return fs::is_directory(path, code) ? path / "data.mdb" : path;
}

}  // namespace

struct LmdbFile::Root {
  std::uint64_t page, entries;
  int levels;
};

bool begins_with_lmdb(LmdbBytes bytes) { return is_sound_head(bytes); }

LmdbFile::LmdbFile(const fs::path& path) : file_(data_file(path)) {
  try {
    const Root root = find_root();
    std::int64_t visits = 0;
    if (root.entries == 0) return;
    walk(root.page, root.levels, visits);
    if (values_.size() != root.entries) fail("{} entries are announced, {} are there", root.entries, values_.size());
  } catch (const Error& error) {
    fail("{}: {}", file_.path().string(), error.what());
  }
}

LmdbFile::Root LmdbFile::find_root() {
  std::vector<std::uint8_t> first(head_bytes), second(head_bytes);
  if (file_.size() < 2 * static_cast<std::int64_t>(head_bytes)) fail("is not an LMDB database: it is too short");
  file_.read_at(0, first);
  if (!is_sound_head(first)) fail("is not an LMDB database of version 1, as 64-bit machines write it");
  page_bytes_ = number<std::uint32_t>(first, page_size_at);
  if (!std::has_single_bit(static_cast<std::uint64_t>(page_bytes_)) || page_bytes_ < 256 || page_bytes_ > 65536)
    fail("has pages of {} bytes; valid: a power of two from 256 to 65536", page_bytes_);
  if (file_.size() < 2 * page_bytes_) fail("is not an LMDB database: it is too short");
  file_.read_at(page_bytes_, second);
  const bool later = is_sound_head(second) &&
                     number<std::uint64_t>(second, transaction_at) > number<std::uint64_t>(first, transaction_at);
  const LmdbBytes head = later ? second : first;
  const LmdbBytes main = head.subspan(main_at);
  // A file may be longer than its used part.
  const auto used = std::min<std::uint64_t>(number<std::uint64_t>(head, last_page_at), 1ull << 48) + 1;
  pages_ = std::min(static_cast<std::int64_t>(used), file_.size() / page_bytes_);
  if (number<std::uint16_t>(main, table_flags_at) & sorted_duplicates)
    fail("has several values for a key, which is not read");
  const int levels = number<std::uint16_t>(main, depth_at);
  const auto entries = number<std::uint64_t>(main, entries_at), page = number<std::uint64_t>(main, root_at);
  if (entries > 0 && (levels < 1 || levels > most_levels || page >= static_cast<std::uint64_t>(pages_)))
    fail("is damaged: the root is page {}, {} levels deep", page, levels);
  return {page, entries, levels};
}

LmdbBytes LmdbFile::read_page(std::int64_t page, std::span<std::uint8_t> to) const {
  if (page < 2 || page >= pages_) fail("is damaged: page {} of {} is named", page, pages_);
  file_.read_at(page * page_bytes_, to);
  if (number<std::uint64_t>(to, 0) != static_cast<std::uint64_t>(page))
    fail("is damaged: page {} has another's number", page);
  return to;
}

void LmdbFile::walk(std::int64_t page, int levels, std::int64_t& visits) {
  // A tree contains each page once: more visits than pages mean a cycle.
  if (levels < 1 || ++visits > pages_) fail("is damaged: its pages form no tree");
  std::vector<std::uint8_t> memory(page_bytes_);
  const LmdbBytes bytes = read_page(page, memory);
  const std::size_t lower = number<std::uint16_t>(bytes, lower_at);
  const std::uint16_t flags = number<std::uint16_t>(bytes, flags_at);
  if (lower < page_header || lower > bytes.size() || lower % 2 != 0 || flags != (levels > 1 ? is_branch : is_leaf))
    fail("is damaged: page {} is no {} page", page, levels > 1 ? "branch" : "leaf");
  for (std::size_t entry = page_header; entry < lower; entry += 2) {
    const std::size_t at = number<std::uint16_t>(bytes, entry);
    if (at < lower || at + node_header > bytes.size()) fail("is damaged: a node leads out of page {}", page);
    const std::uint32_t low = number<std::uint32_t>(bytes, at);
    const std::uint16_t kind = number<std::uint16_t>(bytes, at + 4);
    if (levels > 1) {  // in a branch these bytes are a page number
      walk(low | static_cast<std::uint64_t>(kind) << 32, levels - 1, visits);
      continue;
    }
    if (kind & (sub_table | duplicates)) fail("holds named tables or several values for a key, which is not read");
    const std::size_t data = at + node_header + number<std::uint16_t>(bytes, at + 6);
    const bool elsewhere = kind & apart;
    if (data + (elsewhere ? 8 : low) > bytes.size()) fail("is damaged: an entry leads out of page {}", page);
    if (!elsewhere) {
      values_.push_back({page * page_bytes_ + static_cast<std::int64_t>(data), low, false});
      continue;
    }
    const auto first = number<std::uint64_t>(bytes, data);
    const std::int64_t needed =
        (page_header + low + static_cast<std::uint64_t>(page_bytes_) - 1) / static_cast<std::uint64_t>(page_bytes_);
    if (first < 2 || first >= static_cast<std::uint64_t>(pages_) || needed > pages_ - static_cast<std::int64_t>(first))
      fail("is damaged: a value of {} bytes at page {} leads out of the file", low, first);
    values_.push_back({static_cast<std::int64_t>(first) * page_bytes_, low, true});
  }
}

LmdbBytes LmdbFile::value(std::int64_t index, ByteBuffer& scratch) const {
  expects(index >= 0 && index < size(), "the number of a value");
  const Value& value = values_[index];
  const std::size_t front = value.apart ? page_header : 0;
  const std::span<std::uint8_t> to = scratch.take(front + value.bytes);
  file_.read_at(value.at, to);
  if (value.apart) {
    const auto held = static_cast<std::int64_t>(number<std::uint32_t>(to, pages_at)) * page_bytes_;
    if (!(number<std::uint16_t>(to, flags_at) & is_overflow) || held < std::ssize(to) ||
        number<std::uint64_t>(to, 0) != static_cast<std::uint64_t>(value.at / page_bytes_))
      fail("{}: is damaged: the pages of value {} are not its own", file_.path().string(), index);
  }
  return to.subspan(front);
}

}  // namespace isobar::files
