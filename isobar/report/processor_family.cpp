#include "isobar/report/processor_family.hpp"

#include <array>
#include <cctype>
#include <charconv>

namespace isobar::report {
namespace {

struct Numbered {
  std::string_view vendor;
  int family, first_model, last_model, first_stepping, last_stepping;
  std::string_view name;
  int year;
};

constexpr int any = 255;
constexpr Numbered by_number[] = {
    {"Intel", 6, 45, 45, 0, any, "Sandy Bridge", 2012},
    {"Intel", 6, 62, 62, 0, any, "Ivy Bridge", 2013},
    {"Intel", 6, 63, 63, 0, any, "Haswell", 2014},
    {"Intel", 6, 79, 79, 0, any, "Broadwell", 2016},
    {"Intel", 6, 87, 87, 0, any, "Knights Landing", 2016},
    {"Intel", 6, 133, 133, 0, any, "Knights Mill", 2017},
    {"Intel", 6, 85, 85, 0, 4, "Skylake", 2017},
    {"Intel", 6, 85, 85, 5, 7, "Cascade Lake", 2019},
    {"Intel", 6, 85, 85, 10, 11, "Cooper Lake", 2020},
    {"Intel", 6, 106, 106, 0, any, "Ice Lake", 2021},
    {"Intel", 6, 143, 143, 0, any, "Sapphire Rapids", 2023},
    {"Intel", 6, 207, 207, 0, any, "Emerald Rapids", 2023},
    {"Intel", 6, 173, 173, 0, any, "Granite Rapids", 2024},
    {"AMD", 23, 1, 1, 0, any, "Zen, Naples", 2017},
    {"AMD", 23, 49, 49, 0, any, "Zen 2, Rome", 2019},
    {"AMD", 25, 1, 1, 0, any, "Zen 3, Milan", 2021},
    {"AMD", 25, 17, 17, 0, any, "Zen 4, Genoa", 2022},
    {"AMD", 25, 160, 175, 0, any, "Zen 4c, Bergamo", 2023},
    {"AMD", 26, 2, 17, 0, any, "Zen 5, Turin", 2024},
};

// The number after a word, "model 106" in "family 6 model 106 stepping 6"; -1 if it is missing.
int number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos || at + word.size() + 1 >= text.size()) return -1;
  int value = -1;
  const std::string_view rest = text.substr(at + word.size() + 1);
  std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return value;
}

// The first four digits in a row, with the letters after them: "8375C".
std::string_view product(std::string_view name) {
  for (std::size_t i = 0; i + 4 <= name.size(); ++i) {
    std::size_t end = i;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end]))) ++end;
    if (end - i != 4) {
      i = end > i ? end - 1 : i;
      continue;
    }
    while (end < name.size() && std::isalpha(static_cast<unsigned char>(name[end]))) ++end;
    return name.substr(i, end - i);
  }
  return {};
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::optional<ProcessorFamily> xeon(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, int>, 4> versions{
      {{" v4", 2016}, {" v3", 2014}, {" v2", 2013}, {"E5-", 2012}}};
  if (has(name, "E5-"))
    for (const auto& [mark, year] : versions)
      if (has(name, mark)) return ProcessorFamily{"Xeon E5", year};
  if (has(name, "Xeon Phi") || has(name, "Xeon(R) Phi")) return ProcessorFamily{"Xeon Phi", 2016};
  bool scalable = false;
  for (const std::string_view metal : {"Platinum", "Gold", "Silver", "Bronze"}) scalable |= has(name, metal);
  const std::string_view number = product(name);
  if (!scalable || number.size() < 4) return std::nullopt;
  const std::string_view letters = number.substr(4);
  switch (number[1]) {
    case '1': return ProcessorFamily{"Skylake", 2017};
    case '2': return ProcessorFamily{"Cascade Lake", 2019};
    case '3':
      return letters.starts_with("H") ? ProcessorFamily{"Cooper Lake", 2020} : ProcessorFamily{"Ice Lake", 2021};
    case '4': return ProcessorFamily{"Sapphire Rapids", 2023};
    case '5': return ProcessorFamily{"Emerald Rapids", 2023};
    default: return std::nullopt;
  }
}

std::optional<ProcessorFamily> epyc(std::string_view name) {
  const std::string_view number = product(name);
  if (number.size() < 4) return std::nullopt;
  const char series = number[0], generation = number[3];
  if (series == '7' && generation == '1') return ProcessorFamily{"Zen, Naples", 2017};
  if (series == '7' && generation == '2') return ProcessorFamily{"Zen 2, Rome", 2019};
  if (series == '7' && generation == '3') return ProcessorFamily{"Zen 3, Milan", 2021};
  if (series == '9' && generation == '4') return ProcessorFamily{"Zen 4, Genoa", 2022};
  if (series == '8' && generation == '4') return ProcessorFamily{"Zen 4c, Siena", 2023};
  if (series == '9' && generation == '5') return ProcessorFamily{"Zen 5, Turin", 2024};
  return std::nullopt;
}

std::optional<ProcessorFamily> numbered(std::string_view vendor, std::string_view numbers) {
  const int family = number_after(numbers, "family"), model = number_after(numbers, "model"),
            stepping = number_after(numbers, "stepping");
  for (const Numbered& row : by_number)
    if (row.vendor == vendor && row.family == family && model >= row.first_model && model <= row.last_model &&
        stepping >= row.first_stepping && stepping <= row.last_stepping)
      return ProcessorFamily{std::string(row.name), row.year};
  return std::nullopt;
}

}  // namespace

std::optional<ProcessorFamily> processor_family(std::string_view name, std::string_view numbers) {
  if (has(name, "Xeon"))
    if (auto found = xeon(name)) return found;
  if (has(name, "EPYC"))
    if (auto found = epyc(name)) return found;
  if (has(name, "A64FX")) return ProcessorFamily{"A64FX", 2019};
  if (has(name, "Altra")) return ProcessorFamily{"Altra", 2020};
  return numbered(has(name, "AMD") ? "AMD" : "Intel", numbers);
}

}  // namespace isobar::report
