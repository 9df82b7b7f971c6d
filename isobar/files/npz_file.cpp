// .npz archives: zip files of .npy arrays, compressed or not.
#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/files/npy_file.hpp"

namespace isobar::files {
namespace {

constexpr std::string_view ending = ".npy";
constexpr std::size_t most_members = 10'000;

// The name of an array; empty for a file that is not an array.
std::string array_name(const std::string& member) {
  return member.ends_with(ending) ? member.substr(0, member.size() - ending.size()) : "";
}

}  // namespace

std::map<std::string, NpyFile> read_npz(const std::filesystem::path& path, const std::vector<std::string>& wanted,
                                        std::int64_t max_bytes) {
  std::map<std::string, NpyFile> arrays;
  std::vector<std::string> known;
  std::int64_t held = 0;
  ArchiveReader reader(path);
  while (reader.next() && known.size() < most_members) {
    const std::string name = array_name(reader.name());
    if (name.empty()) continue;
    known.push_back(name);
    if ((!wanted.empty() && !std::ranges::count(wanted, name)) || arrays.contains(name)) continue;
    Bytes content;
    reader.append(content, max_bytes - held);
    held += std::ssize(content);
    arrays.emplace(name, NpyFile(fmt::format("{}: {}", path.string(), name), std::move(content), max_bytes));
  }
  if (known.empty()) fail("{}: is not an .npz archive: it holds no .npy files", path.string());
  for (const std::string& name : wanted)
    if (!arrays.contains(name))
      fail("{}: has no array '{}'; it has: {}", path.string(), name, one_line(join(known, ", ")));
  return arrays;
}

std::vector<NpzMember> list_npz(const std::filesystem::path& path) {
  std::vector<NpzMember> members;
  ArchiveReader reader(path);
  while (reader.next() && members.size() < most_members) {
    NpzMember member{.name = array_name(reader.name())};
    if (member.name.empty()) continue;
    try {
      member.header = read_npy_header(reader.first(4096));
    } catch (const Error& error) {
      member.refused = error.what();
    }
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace isobar::files
