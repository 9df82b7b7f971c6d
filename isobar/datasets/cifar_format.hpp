// CIFAR's binary files as `isobar data inspect` and `convert` see them. They have no magic number: a file is recognised
// by its size, a whole number of records, and by labels that are valid classes.
#pragma once

#include "isobar/datasets/format.hpp"

namespace isobar::datasets {

bool recognises_cifar10(const Glance& glance);
bool recognises_cifar100(const Glance& glance);
Contents look_cifar10(const Glance& glance);
Contents look_cifar100(const Glance& glance);
std::unique_ptr<SampleWriter> create_cifar10(const std::filesystem::path& to, const Outline& outline, Args& args);

}  // namespace isobar::datasets
