#include "isobar/hdf5/hdf5_storage.hpp"

#include <algorithm>
#include <sys/stat.h>

#include <hdf5.h>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/chunk_cache.hpp"
#include "isobar/hdf5/hdf5_driver.hpp"
#include "isobar/hdf5/hdf5_lock.hpp"
#include "isobar/hdf5/hdf5_types.hpp"

namespace isobar::hdf5 {
namespace {

using StorageKind = Hdf5Storage::Kind;
using Id = Hdf5Id;

Id checked(Id result, const Hdf5Storage& of, std::string_view attempt) {
  return checked_hdf5(result, of.file, attempt, of.name);
}

void refuse(const Hdf5Storage& storage, std::string_view why) {
  fail("{}: '{}' cannot be read: {}", storage.file.string(), storage.name, why);
}

// True if all filters are ours; a filter that neither we nor the library have is an Error.
bool read_filters(Hdf5Storage& storage, Id properties) {
  const unsigned count = checked(H5Pget_nfilters(properties), storage, "list the filters of");
  bool ours = true;
  std::string foreign;
  int compressors = 0;
  for (unsigned f = 0; f < count; ++f) {
    unsigned flags = 0, config = 0, values[8] = {};
    std::size_t n = std::size(values);
    const int id =
        checked(H5Pget_filter2(properties, f, &flags, &n, values, 0, nullptr, &config), storage, "list the filters of");
    const std::string known(hdf5_filter_name(id));
    storage.chunk_name += ", " + (known.empty() ? fmt::format("filter {}", id) : known);
    using Filter = Hdf5Filter::Kind;
    if (id == H5Z_FILTER_DEFLATE) storage.filters.push_back({Filter::deflate});
    else if (id == 32000) storage.filters.push_back({Filter::lzf});
    else if (id == H5Z_FILTER_SHUFFLE) storage.filters.push_back({Filter::shuffle, n > 0 ? values[0] : 1});
    else if (id == H5Z_FILTER_FLETCHER32) storage.filters.push_back({Filter::fletcher32});
    else ours = false;
    compressors += id == H5Z_FILTER_DEFLATE || id == 32000;
    if (id != H5Z_FILTER_DEFLATE && id != H5Z_FILTER_SHUFFLE && id != H5Z_FILTER_FLETCHER32 && H5Zfilter_avail(id) <= 0)
      foreign = known.empty() ? fmt::format("number {}", id) : fmt::format("{} (number {})", known, id);
  }
  H5Eclear2(H5E_DEFAULT);
  ours = ours && compressors <= 1 && count <= 32;
  if (!ours && !foreign.empty())
    refuse(storage, fmt::format("its chunks went through the filter {}, which is not known here; "
                                "h5repack -f GZIP=4 with that filter's plugin makes a file that can be read",
                                foreign));
  return ours;
}

void read_chunking(Hdf5Storage& storage, Id properties) {
  hsize_t extents[most_axes];
  const std::size_t rank = checked(H5Pget_chunk(properties, most_axes, extents), storage, "get the chunks of");
  if (rank != storage.extents().size()) refuse(storage, "its chunks have other axes than it has");
  storage.chunk = IndexArray(rank);
  storage.chunk_bytes = storage.stored.bytes;
  for (std::size_t a = 0; a < rank; ++a) {
    storage.chunk[a] = extents[a];
    if (extents[a] == 0 || extents[a] > UINT32_MAX ||
        __builtin_mul_overflow(storage.chunk_bytes, storage.chunk[a], &storage.chunk_bytes))
      refuse(storage, "its chunks have no size, or one no file holds");
  }
  storage.chunk_name = fmt::format("chunks of [{}]", fmt::join(Indices(storage.chunk), ", "));
  unsigned options = 0;
  checked(H5Pget_chunk_opts(properties, &options), storage, "get the chunks of");
  storage.plain_edges = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
  const bool ours = read_filters(storage, properties);
  if (ours && storage.kind != StorageKind::library) return;
  // If all filters are ours, only the type can be odd, and then nothing guarantees that chunks hold numbers of its
  // width: the library would read beyond them.
  if (ours && !storage.filters.empty())
    refuse(storage,
           fmt::format("its chunks hold {}, a type that no file has without being damaged", storage.type_name));
  storage.kind = StorageKind::library;
  // The library allocates a whole chunk, whatever size the file claims for it.
  const std::int64_t most = std::max<std::int64_t>(std::int64_t{64} << 20, 1032 * storage.file_bytes);
  if (storage.chunk_bytes > most)
    refuse(storage, fmt::format("its chunks of {} bytes are more than its file can hold", storage.chunk_bytes));
}

void read_fill(Hdf5Storage& storage, Id properties, Id type) {
  storage.fill.assign(storage.stored.bytes, std::byte{0});
  H5D_fill_value_t state = H5D_FILL_VALUE_UNDEFINED;
  checked(H5Pfill_value_defined(properties, &state), storage, "get the fill value of");
  if (state != H5D_FILL_VALUE_UNDEFINED)
    checked(H5Pget_fill_value(properties, type, storage.fill.data()), storage, "get the fill value of");
}

void hold(Hdf5Storage& storage, Id type) {
  const std::int64_t bytes = storage.shape.count() * storage.stored.bytes;
  if (bytes > 65536) refuse(storage, fmt::format("its header cannot hold {} bytes", bytes));
  // The library copies as much as the shape requires, even if the header holds less.
  const hsize_t stored = H5Dget_storage_size(storage.array.id);
  if (stored < static_cast<hsize_t>(bytes))
    refuse(storage, fmt::format("its header holds {} of its {} bytes", stored, bytes));
  storage.held.resize(bytes);
  if (bytes > 0)
    checked(H5Dread(storage.array.id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, storage.held.data()), storage, "read");
}

void find_piece(Hdf5Storage& storage) {
  // Checked first: after a user block, the offset of an unwritten array looks like any other.
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  checked(H5Dget_space_status(storage.array.id, &status), storage, "find");
  const haddr_t offset = H5Dget_offset(storage.array.id);
  H5Eclear2(H5E_DEFAULT);
  if (status == H5D_SPACE_STATUS_NOT_ALLOCATED || offset == HADDR_UNDEF) return;
  const std::int64_t bytes = storage.shape.count() * storage.stored.bytes;
  if (offset > static_cast<haddr_t>(storage.file_bytes) ||
      bytes > storage.file_bytes - static_cast<std::int64_t>(offset))
    refuse(storage, fmt::format("its {} bytes at {} go beyond the end of the file", bytes, offset));
  storage.offset = offset;
}

}  // namespace

Hdf5Storage::~Hdf5Storage() {
  const auto lock = lock_hdf5();
  array = Hdf5Handle();
}

void find_storage(Hdf5Storage& storage) {
  const Hdf5Handle type(checked(H5Dget_type(storage.array.id), storage, "get the type of"), H5Tclose);
  const Hdf5Number number = hdf5_number(type.id);
  storage.stored = number.stored;
  storage.type_name = hdf5_type_name(type.id);
  if (number.stored.kind == files::Stored::Kind::other)
    fail("{}: '{}' does not hold numbers but {}", storage.file.string(), storage.name, storage.type_name);
  const Hdf5Handle file(checked(H5Iget_file_id(storage.array.id), storage, "find the file of"), H5Fclose);
  storage.descriptor = hdf5_descriptor(file.id);
  struct stat state;
  if (::fstat(storage.descriptor, &state) != 0) refuse(storage, "its file has no size");
  storage.file_bytes = state.st_size;

  const Hdf5Handle properties(checked(H5Dget_create_plist(storage.array.id), storage, "get the layout of"), H5Pclose);
  const H5D_layout_t layout = H5Pget_layout(properties.id);
  if (number.plain) {
    const bool external = layout == H5D_CONTIGUOUS && H5Pget_external_count(properties.id) != 0;
    if (layout == H5D_CHUNKED) storage.kind = StorageKind::chunked;
    if (layout == H5D_COMPACT) storage.kind = StorageKind::compact;
    if (layout == H5D_CONTIGUOUS && !external) storage.kind = StorageKind::contiguous;
    read_fill(storage, properties.id, type.id);
  }
  if (layout == H5D_CHUNKED) read_chunking(storage, properties.id);
  if (storage.kind == StorageKind::compact) hold(storage, type.id);
  if (storage.kind == StorageKind::contiguous) find_piece(storage);
  if (storage.kind == StorageKind::library && layout != H5D_CHUNKED && layout != H5D_VIRTUAL) {
    const hsize_t needed = static_cast<hsize_t>(storage.shape.count()) * H5Tget_size(type.id);
    const hsize_t stored = H5Dget_storage_size(storage.array.id);
    if (stored != 0 && stored < needed) refuse(storage, fmt::format("{} of its {} bytes are stored", stored, needed));
  }
  if (storage.kind != StorageKind::chunked) return;
  storage.chunks =
      std::make_unique<Hdf5Chunks>(storage.array.id, storage.file, storage.name, storage.extents(), storage.chunk);
  storage.number = ChunkCache::new_array();
}

}  // namespace isobar::hdf5
