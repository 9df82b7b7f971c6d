// Layout: element type, extents and strides or blocks of a piece of memory; it is oneDNN's descriptor.
// oneDNN names axes N, C, spatial...; our shapes are in memory order N, spatial..., C. channels_last() translates.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "isobar/tensor/shape.hpp"

namespace isobar {

using Layout = dnnl::memory::desc;
using Dtype = dnnl::memory::data_type;

/// Row-major layout with the axes in the order of the shape.
Layout plain(const Shape& shape, Dtype type = Dtype::f32);

/// The same memory as plain(shape), described to oneDNN as N, C, spatial... (rank 1 and 2 stay as they are).
Layout channels_last(const Shape& shape, Dtype type = Dtype::f32);

/// Any layout of these oneDNN axes: a primitive descriptor chooses one.
Layout any_layout(const std::vector<std::int64_t>& axes, Dtype type = Dtype::f32);

/// Number of elements it occupies in memory, including padding.
std::int64_t padded_count(const Layout& layout);

/// Whether both layouts store the same numbers as the same bytes, whatever the axes are called.
bool same_bytes(const Layout& a, const Layout& b);

/// "f32 acdeb", "f32 ABcde16b16a": for tables and fingerprints.
std::string layout_text(const Layout& layout);

}  // namespace isobar
