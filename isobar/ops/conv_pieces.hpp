// A convolution computed piece by piece: consecutive samples of the batch, each by the method it is best computed with.
// Pieces run one after the other in one workspace, as large as the largest needs. Weight gradients of the pieces are
// added in their order.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "isobar/ops/conv_methods.hpp"

namespace isobar::ops {

/// The kernels of a choice, or nothing where a method is unknown or does not apply, or the pieces are not the batch.
std::optional<std::vector<Kernel>> chosen_kernels(const Setting& setting, const ConvCase& problem, Direction direction,
                                                  const Choice& choice);

/// Bytes of all temporaries of these kernels together.
std::size_t workspace_bytes(std::span<const Kernel> kernels);

/// "im2col", "winograd 4+4", "winograd 4 + im2col 1".
std::string choice_text(const Choice& choice);

}  // namespace isobar::ops
