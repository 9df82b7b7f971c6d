#include "isobar/datasets/survey.hpp"

#include <cstring>
#include <sys/stat.h>

#include "isobar/base/error.hpp"

namespace isobar::datasets {
namespace {

// Empty for a file that is not there.
std::string key_of(std::string_view question, const std::filesystem::path& file) {
  struct stat state;
  if (::stat(file.c_str(), &state) != 0) return "";
  return fmt::format("{}\n{}\n{} {}.{}", question, file.string(), state.st_size, state.st_mtim.tv_sec,
                     state.st_mtim.tv_nsec);
}

void put(std::string_view bytes, std::string& to) {
  const std::uint64_t size = bytes.size();
  to.append(reinterpret_cast<const char*>(&size), sizeof(size));
  to.append(bytes);
}

std::string_view take(std::string_view& from) {
  std::uint64_t size = 0;
  expects(from.size() >= sizeof(size), "a packed survey");
  std::memcpy(&size, from.data(), sizeof(size));
  from.remove_prefix(sizeof(size));
  expects(from.size() >= size, "a packed survey");
  const std::string_view bytes = from.substr(0, size);
  from.remove_prefix(size);
  return bytes;
}

}  // namespace

const FileFacts* Survey::find(std::string_view question, const std::filesystem::path& file) const {
  if (facts_.empty()) return nullptr;
  const auto found = facts_.find(key_of(question, file));
  return found == facts_.end() ? nullptr : &found->second;
}

void Survey::note(std::string_view question, const std::filesystem::path& file, FileFacts facts) {
  if (std::string key = key_of(question, file); !key.empty()) facts_.insert_or_assign(std::move(key), std::move(facts));
}

std::string Survey::pack() const {
  std::string bytes;
  for (const auto& [key, facts] : facts_) {
    put(key, bytes);
    put({reinterpret_cast<const char*>(facts.numbers.data()), facts.numbers.size() * sizeof(std::int64_t)}, bytes);
    put(facts.text, bytes);
  }
  return bytes;
}

Survey Survey::unpack(std::string_view bytes) {
  Survey survey;
  while (!bytes.empty()) {
    std::string key(take(bytes));
    const std::string_view numbers = take(bytes);
    FileFacts facts;
    facts.numbers.resize(numbers.size() / sizeof(std::int64_t));
    if (!numbers.empty()) std::memcpy(facts.numbers.data(), numbers.data(), numbers.size());
    facts.text = take(bytes);
    survey.facts_.emplace(std::move(key), std::move(facts));
  }
  return survey;
}

}  // namespace isobar::datasets
