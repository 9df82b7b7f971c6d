#include "isobar/record/line_tail.hpp"

#include <fstream>

namespace isobar::record {
namespace {

constexpr std::size_t most_at_once = std::size_t{4} << 20, remembered = 512;

// At most `most` bytes of a file, starting at an offset.
std::string bytes_at(const std::filesystem::path& file, std::uintmax_t offset, std::size_t most) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes(most, '\0');
  in.seekg(offset);
  in.read(bytes.data(), most);
  bytes.resize(in ? most : static_cast<std::size_t>(in.gcount()));
  return bytes;
}

}  // namespace

std::vector<std::string> LineTail::fresh() {
  std::vector<std::string> lines;
  std::ifstream in(file_, std::ios::binary);
  if (!in.seekg(offset_)) return lines;
  std::string text;
  for (std::string part(std::size_t{1} << 16, '\0'); text.size() < most_at_once;) {
    in.read(part.data(), part.size());
    if (in.gcount() == 0) break;
    text.append(part, 0, in.gcount());
  }
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (begin == 0) return lines;
  offset_ += begin;
  for (std::size_t i = 0; i < lines.size() && given_ < 2; ++i, ++given_) first_ += lines[i] + "\n";
  last_ += text.substr(0, begin);
  if (last_.size() > remembered) last_.erase(0, last_.size() - remembered);
  return lines;
}

LineTail::Past LineTail::past() const {
  if (offset_ == 0 || bytes_at(file_, offset_ - last_.size(), last_.size()) == last_) return Past::there;
  const std::string now = bytes_at(file_, 0, first_.size());
  return !now.empty() && first_.starts_with(now) ? Past::cut : Past::gone;
}

void LineTail::restart() {
  offset_ = 0;
  given_ = 0;
  first_.clear();
  last_.clear();
}

}  // namespace isobar::record
