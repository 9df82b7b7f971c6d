// One HDF5 file with every kind of array seen in public files. The group of an array says what happens to it: direct
// (read by us), library (read by the library), only_here (read by us alone), or refused.
#pragma once

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tests/hdf5/made_hdf5.hpp"

namespace isobar::tests {

constexpr H5Z_filter_t lzf_filter = 32000, lz4_filter = 32004, bitshuffle_filter = 32008;

/// An array of some type as in memory, in chunks of [2, ...] if filters are given.
inline void write_typed(hid_t file, const std::string& name, hid_t type, std::vector<hsize_t> shape, const void* data,
                        const std::string& filters = "") {
  const auto rank = static_cast<int>(shape.size());
  const hid_t space = made(rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, shape.data(), nullptr));
  const hid_t properties = made(H5Pcreate(H5P_DATASET_CREATE)), links = made(H5Pcreate(H5P_LINK_CREATE));
  made(H5Pset_create_intermediate_group(links, 1));
  if (!filters.empty()) shape[0] = 2, made(H5Pset_chunk(properties, rank, shape.data()));
  for (const char filter : filters) {
    if (filter == 's') made(H5Pset_shuffle(properties));
    if (filter == 'g') made(H5Pset_deflate(properties, 4));
    if (filter == 'f') made(H5Pset_fletcher32(properties));
  }
  const hid_t array = made(H5Dcreate2(file, name.c_str(), type, space, links, properties, H5P_DEFAULT));
  made(H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  H5Dclose(array);
  H5Pclose(links);
  H5Pclose(properties);
  H5Sclose(space);
}

/// Floats in one chunk with a filter that the library does not have; `chunk` is as stored.
inline void write_foreign(hid_t file, const std::string& name, H5Z_filter_t filter, hsize_t count,
                          const std::vector<std::uint8_t>& chunk) {
  const auto pass = [](unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void**) {
    return bytes;
  };
  const H5Z_class2_t known{H5Z_CLASS_T_VERS, filter, 1, 1, "foreign", nullptr, nullptr, pass};
  made(H5Zregister(&known));  // until the file is closed: the library makes no arrays with unknown filters
  const hid_t space = made(H5Screate_simple(1, &count, nullptr)), properties = made(H5Pcreate(H5P_DATASET_CREATE));
  const hid_t links = made(H5Pcreate(H5P_LINK_CREATE));
  made(H5Pset_create_intermediate_group(links, 1));
  made(H5Pset_chunk(properties, 1, &count));
  made(H5Pset_filter(properties, filter, H5Z_FLAG_MANDATORY, 0, nullptr));
  const hid_t array = made(H5Dcreate2(file, name.c_str(), H5T_IEEE_F32LE, space, links, properties, H5P_DEFAULT));
  const hsize_t first = 0;
  made(H5Dwrite_chunk(array, H5P_DEFAULT, 0, &first, chunk.size(), chunk.data()));
  H5Dclose(array);
  H5Pclose(links);
  H5Pclose(properties);
  H5Sclose(space);
}

/// Floats as LZF stores incompressible data: up to 32 bytes after their number minus one.
inline std::vector<std::uint8_t> lzf_of(const std::vector<double>& values) {
  const std::vector<float> floats(values.begin(), values.end());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(floats.data());
  std::vector<std::uint8_t> packed;
  for (std::size_t i = 0; i < 4 * floats.size(); ++i) {
    if (i % 32 == 0) packed.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(32, 4 * floats.size() - i) - 1));
    packed.push_back(bytes[i]);
  }
  return packed;
}

inline int write_numbers(hid_t file, bool latest) {
  int arrays = 0;
  const auto add = [&](const std::string& name, MadeArray array, bool negative = true) {
    array.name = name;
    const hsize_t most = 100'000;
    hsize_t count = 1;
    for (const hsize_t n : array.shape) count *= n;
    write_array(file, array, count > most ? std::vector<double>{} : any_numbers(array.shape, negative));
    ++arrays;
  };
  const std::pair<const char*, hid_t> types[] = {
      {"int8", H5T_STD_I8LE},          {"int16", H5T_STD_I16LE},       {"int32", H5T_STD_I32BE},
      {"int64", H5T_STD_I64LE},        {"uint8", H5T_STD_U8LE},        {"uint16", H5T_STD_U16BE},
      {"uint32", H5T_STD_U32LE},       {"uint64", H5T_STD_U64BE},      {"float16", half_type(false)},
      {"float32", H5T_IEEE_F32LE},     {"float64", H5T_IEEE_F64LE},    {"float16_big", half_type(true)},
      {"float32_big", H5T_IEEE_F32BE}, {"float64_big", H5T_IEEE_F64BE}};
  for (const auto& [name, type] : types) {
    const bool negative = name[0] != 'u';
    const std::string at = fmt::format("direct/{}/", name);
    add(at + "scalar", {.type = type}, negative);
    add(at + "contiguous", {.shape = {7, 5}, .type = type}, negative);
    add(at + "compact", {.shape = {7, 5}, .type = type, .compact = true}, negative);
    for (const char* filters : {"", "g", "s", "sg", "f", "sgf"})
      add(at + "chunks" + filters, {.shape = {7, 5}, .type = type, .chunk = {3, 2}, .filters = filters}, negative);
    add(at + "never_written", {.shape = {4, 3}, .type = type, .written = false, .fill = 42}, negative);
  }
  const std::string at = "direct/index/";  // how chunks are found: the newest format has six ways
  add(at + "single", {.shape = {6, 4}, .chunk = {6, 4}});
  add(at + "single_filtered", {.shape = {6, 4}, .chunk = {6, 4}, .filters = "g"});
  add(at + "implicit", {.shape = {7, 5}, .chunk = {2, 2}, .early = true});
  add(at + "fixed", {.shape = {7, 5}, .chunk = {2, 2}});
  add(at + "fixed_in_pages", {.shape = {2300}, .chunk = {2}});
  add(at + "fixed_in_pages_filtered", {.shape = {2300}, .chunk = {2}, .filters = "g", .fill = 3, .rows = 1500});
  add(at + "one_axis_grows", {.shape = {700, 3}, .chunk = {2, 2}, .unlimited = 1});
  add(at + "one_axis_grows_filtered", {.shape = {700, 3}, .chunk = {2, 2}, .filters = "sg", .unlimited = 1});
  add(at + "two_axes_grow", {.shape = {70, 30}, .chunk = {2, 2}, .unlimited = 2});
  add(at + "two_axes_grow_filtered", {.shape = {70, 30}, .chunk = {2, 2}, .filters = "g", .unlimited = 2});
  add(at + "plain_edges", {.shape = {7, 5}, .chunk = {3, 2}, .filters = "g", .plain_edges = latest});
  add("direct/odd/eight_axes", {.shape = {2, 3, 1, 2, 1, 2, 3, 2}, .chunk = {1, 2, 1, 2, 1, 1, 3, 2}, .filters = "g"});
  add("direct/odd/one_number", {.shape = {1, 1, 1}, .chunk = {1, 1, 1}, .filters = "g"});
  add("direct/odd/nothing", {.shape = {0, 3}, .written = false});
  add("direct/odd/no_chunks", {.shape = {0, 3}, .chunk = {2, 2}, .unlimited = 1, .written = false});
  add("direct/odd/three_milliards", {.shape = {3'000'000'000},
                                     .type = H5T_STD_I8LE,
                                     .chunk = {1 << 20},
                                     .unlimited = 1,
                                     .written = false,
                                     .fill = 7});
  for (int i = 0; i < 1000; ++i) add(fmt::format("direct/many/number_{}", i), {});
  add("library/scale_offset", {.shape = {7, 5}, .type = H5T_STD_I32LE, .chunk = {3, 2}, .filters = "o"});
  add("library/two_compressors", {.shape = {7, 5}, .chunk = {3, 2}, .filters = "gg"});
  const hid_t twelve_bits = made(H5Tcopy(H5T_STD_I16LE));
  made(H5Tset_precision(twelve_bits, 12));
  add("library/nbit", {.shape = {7, 5}, .type = twelve_bits, .chunk = {3, 2}, .filters = "n"});
  add("library/twelve_bits", {.shape = {7, 5}, .type = twelve_bits});
  return arrays;
}

inline int write_values_and_links(hid_t file, const std::string& neighbour) {
  const float special[] = {INFINITY, -INFINITY, NAN, -0.0f, 1e-45f, 1.17549435e-38f, 3.4028235e38f};
  write_typed(file, "direct/special/float32", H5T_NATIVE_FLOAT, {7}, special);
  const double wide[] = {INFINITY, -INFINITY, NAN, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308};
  write_typed(file, "direct/special/float64", H5T_NATIVE_DOUBLE, {7}, wide, "g");
  const std::uint16_t half[] = {0x7c00, 0xfc00, 0x7e00, 0x8000, 0x0001, 0x0400, 0x7bff};
  write_typed(file, "direct/special/float16", half_type(false), {7}, half);
  const hid_t days = made(H5Tenum_create(H5T_NATIVE_INT8));
  for (std::int8_t day = 0; day < 7; ++day) made(H5Tenum_insert(days, fmt::format("day {}", day).c_str(), &day));
  const std::int8_t week[] = {6, 5, 4, 3, 2, 1};
  write_typed(file, "direct/enumeration", days, {6}, week);
  write_typed(file, "direct/enumeration_in_chunks", days, {6}, week, "g");
  const hid_t committed = made(H5Tcopy(H5T_STD_I32LE));
  made(H5Tcommit2(file, "a_type", committed, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const int numbers[] = {1, -2, 3};
  write_typed(file, "direct/committed_type", committed, {3}, numbers);
  H5Tclose(committed);  // otherwise the file would stay open
  made(H5Lcreate_hard(file, "direct/int16/scalar", file, "direct/hard_link", H5P_DEFAULT, H5P_DEFAULT));
  made(H5Lcreate_soft("/direct/int16/contiguous", file, "direct/soft_link", H5P_DEFAULT, H5P_DEFAULT));
  made(H5Lcreate_soft("/direct/nowhere", file, "direct/lost", H5P_DEFAULT, H5P_DEFAULT));
  made(H5Lcreate_soft("/direct", file, "direct/circle", H5P_DEFAULT, H5P_DEFAULT));
  made(H5Lcreate_external(neighbour.c_str(), "/x", file, "direct/external_link", H5P_DEFAULT, H5P_DEFAULT));
  const hid_t space = made(H5Screate(H5S_SCALAR)), text = made(H5Tcopy(H5T_C_S1)), null = made(H5Screate(H5S_NULL));
  made(H5Tset_size(text, 40'000));
  const std::string content(40'000, 'a');
  const hid_t array =
      made(H5Dcreate2(file, "direct/null", H5T_NATIVE_INT, null, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const hid_t attribute = made(H5Acreate2(array, "large", text, space, H5P_DEFAULT, H5P_DEFAULT));
  made(H5Awrite(attribute, text, content.data()));
  H5Aclose(attribute);
  H5Dclose(array);
  H5Sclose(null);
  H5Sclose(space);
  return 3 + 2 + 1 + 3 + 1;
}

inline int write_other_things(hid_t file) {
  const char* const words[] = {"one", "two words", "\xC3\xA9"};
  const hid_t fixed = made(H5Tcopy(H5T_C_S1)), spaced = made(H5Tcopy(H5T_C_S1)), free_length = made(H5Tcopy(H5T_C_S1));
  made(H5Tset_size(fixed, 4));
  made(H5Tset_cset(fixed, H5T_CSET_UTF8));
  made(H5Tset_size(spaced, 4));
  made(H5Tset_strpad(spaced, H5T_STR_SPACEPAD));
  made(H5Tset_size(free_length, H5T_VARIABLE));
  write_typed(file, "refused/text", fixed, {2, 2}, "abc\0def\0ghi\0jkl");
  write_typed(file, "refused/text_with_spaces", spaced, {2, 2}, "ab  c   def gh  ", "g");
  write_typed(file, "refused/text_of_any_length", free_length, {3}, words);
  const hid_t grid_type = [] {
    const hsize_t extents[] = {2, 2};
    return made(H5Tarray_create2(H5T_NATIVE_INT, 2, extents));
  }();
  const hid_t pair = made(H5Tcreate(H5T_COMPOUND, 24));
  made(H5Tinsert(pair, "left", 0, H5T_NATIVE_FLOAT));
  made(H5Tinsert(pair, "right", 8, grid_type));
  const std::vector<std::uint8_t> zeros(6 * 24);
  write_typed(file, "refused/compound", pair, {3, 2}, zeros.data());
  write_typed(file, "refused/compound_in_chunks", pair, {3, 2}, zeros.data(), "g");
  write_typed(file, "refused/arrays", grid_type, {3}, zeros.data());
  const hid_t opaque = made(H5Tcreate(H5T_OPAQUE, 5));
  made(H5Tset_tag(opaque, "secret"));
  write_typed(file, "refused/opaque", opaque, {3, 2}, zeros.data());
  write_typed(file, "refused/bits", H5T_STD_B16LE, {3, 2}, zeros.data());
  write_typed(file, "refused/bits_in_chunks", H5T_STD_B8LE, {3, 2}, zeros.data(), "sgf");
  int list[] = {1, 2, 3};
  const hvl_t lists[] = {{1, list}, {3, list}};
  const hid_t list_type = made(H5Tvlen_create(H5T_NATIVE_INT));
  write_typed(file, "refused/lists", list_type, {2}, lists);
  write_typed(file, "refused/lists_in_chunks", list_type, {2}, lists, "g");
  hobj_ref_t reference;
  made(H5Rcreate(&reference, file, "refused/lists", H5R_OBJECT, -1));
  write_typed(file, "refused/reference", H5T_STD_REF_OBJ, {1}, &reference);
  write_foreign(file, "refused/bitshuffle", bitshuffle_filter, 4, std::vector<std::uint8_t>(16));
  write_foreign(file, "refused/lz4", lz4_filter, 4, std::vector<std::uint8_t>(16));
  write_foreign(file, "only_here/lzf", lzf_filter, 100, lzf_of(any_numbers({100}, true)));
  return 12 + 3;
}

/// Numbers in a separate file, and numbers that are those of another array.
inline int write_elsewhere(hid_t file, const std::filesystem::path& raw) {
  const hsize_t shape[] = {4, 3};
  const hid_t space = made(H5Screate_simple(2, shape, nullptr)), outside = made(H5Pcreate(H5P_DATASET_CREATE));
  made(H5Pset_external(outside, raw.c_str(), 0, 12 * sizeof(float)));
  const hid_t array =
      made(H5Dcreate2(file, "library/external", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, outside, H5P_DEFAULT));
  made(H5Dwrite(array, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, any_numbers({4, 3}, true).data()));
  H5Dclose(array);
  H5Pclose(outside);
  const hid_t seen = made(H5Pcreate(H5P_DATASET_CREATE)), whole = made(H5Screate_simple(2, shape, nullptr));
  made(H5Pset_virtual(seen, whole, ".", "/library/external", whole));
  H5Dclose(made(H5Dcreate2(file, "library/virtual", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, seen, H5P_DEFAULT)));
  H5Sclose(whole);
  H5Pclose(seen);
  H5Sclose(space);
  return 2;
}

/// Writes the file, and next to it those it refers to; returns how many arrays it has.
inline int write_every_kind(const std::filesystem::path& path, const MadeFile& how) {
  const std::filesystem::path neighbour = path.string() + ".neighbour", raw = path.string() + ".raw";
  write_hdf5(neighbour, {}, [](hid_t file) { write_array(file, {.shape = {3}}, {1, 2, 3}); });
  int arrays = 0;
  write_hdf5(path, how, [&](hid_t file) {
    arrays += write_numbers(file, how.latest);
    arrays += write_values_and_links(file, neighbour.filename().string());
    arrays += write_other_things(file);
    if (how.latest) arrays += write_elsewhere(file, raw);
  });
  const auto lock = hdf5::lock_hdf5();
  for (const H5Z_filter_t filter : {lzf_filter, lz4_filter, bitshuffle_filter}) made(H5Zunregister(filter));
  return arrays;
}

}  // namespace isobar::tests
