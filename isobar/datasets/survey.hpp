// Survey: what was found out about files when data sets were made. Makers ask it before they open a file, so that a
// rank which is given the survey of another need not open every file again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace isobar::datasets {

/// What a format must know of a file before it reads samples from it: how many there are, at which times.
struct FileFacts {
  std::vector<std::int64_t> numbers{};
  std::string text{};
};

class Survey {
 public:
  /// What was noted about a file; `question` says all that the answer depends on besides the file. Null when nothing
  /// was noted, or the file has another size or time of change now.
  const FileFacts* find(std::string_view question, const std::filesystem::path& file) const;
  void note(std::string_view question, const std::filesystem::path& file, FileFacts facts);

  /// The number noted about a file; where none is, it is what `count` returns, and noted.
  template <class F>
  std::int64_t number(std::string_view question, const std::filesystem::path& file, F count) {
    if (const FileFacts* const known = find(question, file)) return known->numbers.at(0);
    const std::int64_t found = count();
    note(question, file, {{found}});
    return found;
  }

  /// All of it as bytes, and out of them.
  std::string pack() const;
  static Survey unpack(std::string_view bytes);

 private:
  std::map<std::string, FileFacts> facts_;  // by question, file, its size and time of change
};

}  // namespace isobar::datasets
