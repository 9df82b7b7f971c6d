// The program oracle_cases: writes the cases for PyTorch that tests/onnx/oracle/make_golden.py requests.
//   oracle_cases FOLDER networks NAME FIRST LAST   every row of that network, started from each seed of a range
//   oracle_cases FOLDER operators NAME             every problem of that operator
//   oracle_cases names networks|operators          their names, one per line
#include <cstdio>
#include <exception>

#include "tests/onnx/oracle_files.hpp"

namespace isobar::onnx {
namespace {

void write_networks(const std::filesystem::path& folder, const std::string& name, std::uint64_t first,
                    std::uint64_t last) {
  int index = 0;
  for (const zoo::Shrunken& small : oracle_networks()) {
    if (Spec(small.spec).name() != name) continue;
    const auto made = network_case(small);
    for (std::uint64_t seed = first; seed <= last; ++seed) {
      made->store().initialize(seed);
      write_case(folder / std::to_string(index) / std::to_string(seed), *made, small.spec);
    }
    ++index;
  }
}

void write_operators(const std::filesystem::path& folder, const std::string& name) {
  int index = 0;
  for (const ops::OperatorRow* row : ops::operators()) {
    if (row->name != name) continue;
    for (const ops::Problem& problem : row->problems)
      if (!inexpressible(problem))
        write_case(folder / std::to_string(index++) / "1", *operator_case(problem), problem_title(problem));
  }
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "names") {
    if (words[1] == "networks")
      for (const auto* row : zoo::networks()) fmt::print("{}\n", row->name);
    else
      for (const auto* row : ops::operators()) fmt::print("{}\n", row->name);
    return 0;
  }
  if (words.size() == 5 && words[1] == "networks")
    return write_networks(words[0], words[2], std::stoull(words[3]), std::stoull(words[4])), 0;
  if (words.size() == 3 && words[1] == "operators") return write_operators(words[0], words[2]), 0;
  fmt::print(stderr,
             "oracle_cases FOLDER networks NAME FIRST LAST | FOLDER operators NAME | names networks|operators\n");
  return 2;
}

}  // namespace
}  // namespace isobar::onnx

int main(int count, char** words) {
  try {
    return isobar::onnx::run({words + 1, words + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "oracle_cases: {}\n", error.what());
    return 1;
  }
}
