// Operators with sizes typical of networks; the problems of the catalogue, made for tests, are too small to measure.
#include <map>

#include "isobar/bench/operators.hpp"

namespace isobar::bench {
namespace {

const std::vector<ops::Problem>& realistic(std::string_view name) {
  static const std::map<std::string, std::vector<ops::Problem>, std::less<>> all{
      {"conv",
       {{"conv(filters=64, kernel=7, stride=2, padding=3)", {{8, 224, 224, 3}}},
        {"conv(filters=128, kernel=3, padding=same)", {{2, 112, 112, 128}}},
        {"conv(filters=256, kernel=1)", {{8, 28, 28, 256}}},
        {"conv(filters=32, kernel=5, padding=2)", {{100, 16, 16, 32}}},
        {"conv(filters=384, kernel=3, padding=1, groups=2)", {{32, 13, 13, 384}}},
        {"conv(filters=728, kernel=3, padding=1, groups=728, bias=false)", {{4, 12, 18, 728}}},
        {"conv(filters=256, kernel=3, dilation=12, padding=12)", {{1, 24, 36, 2048}}},
        {"conv(filters=64, kernel=3, padding=same)", {{1, 64, 64, 64, 32}}}}},
      {"deconv",
       {{"deconv(filters=256, kernel=3, stride=2, padding=same)", {{1, 48, 72, 256}}},
        {"deconv(filters=128, kernel=5, stride=2, padding=same)", {{1, 96, 96, 256}}}}},
      {"dense", {{"dense(units=4096)", {{32, 9216}}}, {"dense(units=1536)", {{2048, 384}}}}},
      {"matmul", {{"matmul", {{512, 512}, {512, 512}}}}},
      {"attention", {{"attention(heads=6, causal=true)", {{8, 256, 384}, {8, 256, 384}, {8, 256, 384}}}}},
      {"batch_norm", {{"batch_norm", {{1, 96, 144, 256}}}}},
      {"layer_norm", {{"layer_norm", {{2048, 384}}}}},
      {"lrn",
       {{"lrn(size=5, alpha=1e-4, beta=0.75)", {{32, 56, 56, 192}}},
        {"lrn(size=3, alpha=5e-5, beta=0.75, region=within)", {{100, 16, 16, 32}}}}},
      {"max_pool",
       {{"max_pool(window=3, stride=2, ceil=true)", {{32, 55, 55, 96}}},
        {"max_pool(window=2)", {{1, 128, 128, 128, 32}}}}},
      {"average_pool", {{"average_pool(window=3, stride=2, ceil=true)", {{100, 16, 16, 32}}}}},
      {"global_pool", {{"global_pool", {{32, 7, 7, 1024}}}}},
      {"relu", {{"relu", {{8, 112, 112, 128}}}}},
      {"leaky_relu", {{"leaky_relu(slope=0.3)", {{1, 64, 64, 64, 64}}}}},
      {"gelu", {{"gelu(kind=tanh)", {{2048, 1536}}}}},
      {"tanh", {{"tanh", {{2048, 1536}}}}},
      {"sigmoid", {{"sigmoid", {{2048, 1536}}}}},
      {"softmax", {{"softmax", {{2048, 256}}}}},
      {"softmax_cross_entropy",
       {{"softmax_cross_entropy", {{55296, 3}, {55296, 1}}, -1, 1, {0, 3}},
        {"softmax_cross_entropy", {{2048, 256}, {2048, 1}}, -1, 1, {0, 256}}}},
      {"dropout", {{"dropout(rate=0.5)", {{8, 112, 112, 128}}}}},
      {"add", {{"add", {{1, 96, 144, 256}, {1, 96, 144, 256}}}}},
      {"mul", {{"mul", {{1, 96, 144, 256}, {1, 96, 144, 256}}}}},
      {"concat", {{"concat", {{32, 28, 28, 128}, {32, 28, 28, 192}, {32, 28, 28, 96}, {32, 28, 28, 64}}}}},
      {"embedding", {{"embedding(rows=50257, width=384)", {{2048}}, 0, 1, {0, 50257}}}},
      {"lstm", {{"lstm(units=200)", {{64, 128, 200}}}}},
      {"mse", {{"mse", {{1, 384, 384, 16}, {1, 384, 384, 16}}}}},
      {"resize", {{"resize(factor=2, kind=linear)", {{1, 48, 72, 256}}}}},
      {"transpose", {{"transpose(order=[0, 3, 1, 2])", {{8, 112, 112, 128}}}}}};
  static const std::vector<ops::Problem> none;
  const auto found = all.find(name);
  return found == all.end() ? none : found->second;
}

}  // namespace

std::vector<ops::Problem> operator_problems(const ops::OperatorRow& row) {
  std::vector<ops::Problem> problems = row.problems;
  for (const ops::Problem& problem : realistic(row.name)) problems.push_back(problem);
  return problems;
}

}  // namespace isobar::bench
