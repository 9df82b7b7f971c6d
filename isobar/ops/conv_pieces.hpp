// A convolution computed piece by piece: consecutive samples of the batch, each piece by the best method for it.
// Pieces run one after the other and share a workspace, as large as the largest of them needs. Weight gradients of the
// pieces are added in order.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "isobar/ops/conv_methods.hpp"

namespace isobar::ops {

/// The kernels of a choice; nothing if a method is unknown or does not apply, or if the pieces do not add up to the
/// batch.
std::optional<std::vector<Kernel>> chosen_kernels(const Setting& setting, const ConvCase& problem, Direction direction,
                                                  const Choice& choice);

/// Total bytes of the temporaries of these kernels.
std::size_t workspace_bytes(std::span<const Kernel> kernels);

/// "im2col", "winograd 4+4", "winograd 4 + im2col 1".
std::string choice_text(const Choice& choice);

}  // namespace isobar::ops
