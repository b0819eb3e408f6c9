// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/container_writer.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "aggregation/commit/container_attributes.hpp"
#include "aggregation/commit/container_driver.hpp"
#include "aggregation/merge/owned_id.hpp"
#include "codecs/base/checksum.hpp"
#include "restart/base/part_id.hpp"
#include "restart/filter/filter_parameters.hpp"

namespace mcr::aggregation {
namespace {

using restart::DatasetStorage;

/// HDF5 makes a dataset with a filter only if the filter is registered. The filter is never run,
/// because encoded frames are written as they are.
std::size_t refuse_to_filter(unsigned, std::size_t, const unsigned*, std::size_t, std::size_t*,
                             void**) {
  return 0;
}
const H5Z_class2_t filter_class{
    H5Z_CLASS_T_VERS, restart::filter_id, 1, 1, restart::filter_name, nullptr,
    nullptr,          refuse_to_filter};

/// Finds the place of each frame's chunk in the file.
struct ChunkSearch {
  const DatasetPlan& plan;
  std::vector<restart::FramePlace>& places;
};

int note_chunk(const hsize_t* offset, unsigned, haddr_t address, hsize_t, void* data) {
  auto& search = *static_cast<ChunkSearch*>(data);
  const DatasetPlan& plan = search.plan;
  std::uint64_t position = 0;  // of the chunk's first element
  for (std::size_t i = 0; i < plan.extents.size(); ++i) {
    position = position * plan.extents[i] + offset[i];
  }
  const std::uint32_t frame = plan.place_of(position * plan.type_bytes).frame;
  if (frame >= search.places.size()) return H5_ITER_ERROR;
  search.places[frame].file_offset = address;
  return H5_ITER_CONT;
}

class Hdf5ContainerWriter final : public ContainerWriter {
 public:
  Hdf5ContainerWriter(const restart::File& file, std::string path)
      : output_(file), path_(std::move(path)), for_hdf5_(file) {}

  Result<void> open() {
    uuid_ = MCR_TRY(restart::PartId::random()).bytes;
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const OwnedId creation(H5Pcreate(H5P_FILE_CREATE));
    const OwnedId access(H5Pcreate(H5P_FILE_ACCESS));
    const OwnedId native(H5VLget_connector_id_by_name("native"));
    // The latest format takes 332 bytes for a dataset instead of 3,024.
    if (H5Zregister(&filter_class) < 0 ||
        H5Pset_userblock(creation.get(), restart::UserBlock::bytes) < 0 ||
        H5Pset_vol(access.get(), native.get(), nullptr) < 0 ||
        !for_hdf5_.choose_for(access.get()) ||
        H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0 ||
        H5Pset_file_locking(access.get(), false, true) < 0 ||
        // No space is reserved for later metadata: chunks would enclose it, and it would stay
        // unused.
        H5Pset_meta_block_size(access.get(), 0) < 0 ||
        H5Pset_small_data_block_size(access.get(), 0) < 0 ||
        H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_LATEST) < 0) {
      return write_error("properties of the container");
    }
    errno = 0;
    file_ = OwnedId(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
    if (!file_.is_valid()) return write_error(path_ + " cannot be made");
    access_ = OwnedId(H5Pcreate(H5P_DATASET_ACCESS));
    H5Pset_chunk_cache(access_.get(), 0, 0, 1.0);  // chunks bypass the cache
    make_groups_ = OwnedId(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(make_groups_.get(), 1);
    H5Pset_char_encoding(make_groups_.get(), H5T_CSET_UTF8);
    variables_ =
        OwnedId(H5Gcreate2(file_.get(), "variables", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (!variables_.is_valid()) return write_error("group of variables cannot be made");
    return {};
  }

  Result<void> begin_dataset(const DatasetPlan& plan, const Datatypes& types,
                             const Encoding& encoding,
                             const std::vector<AttributeValue>& attributes,
                             const std::vector<std::uint32_t>& ranks) override {
    MCR_TRY(end_dataset());
    restart::DatasetEntry entry;
    entry.name = plan.name;
    entry.kind = plan.kind;
    entry.storage = encoding.storage;
    entry.element_bytes = static_cast<std::uint32_t>(plan.type_bytes);
    entry.chunk_bytes = static_cast<std::uint32_t>(plan.chunk_bytes());
    entry.raw_bytes = plan.raw_bytes();
    entry.first_frame = frames_.size();
    entry.frame_count = plan.frame_count();
    frames_.resize(frames_.size() + entry.frame_count);
    datasets_.push_back(entry);
    stored_bytes_.push_back(0);

    MCR_TRY(take_form(plan, encoding));
    const bool is_variable = plan.kind == restart::DatasetKind::variable;
    dataset_ = OwnedId(H5Dcreate2(is_variable ? variables_.get() : file_.get(), plan.name.c_str(),
                                  types[plan.type].id.get(), form_.space.get(), make_groups_.get(),
                                  form_.properties.get(), access_.get()));
    if (!dataset_.is_valid()) return write_error("dataset " + plan.name + " cannot be made");
    plan_ = &plan;
    for (const AttributeValue& attribute : attributes) {
      MCR_TRY(copy_attribute(dataset_.get(), types, attribute));
    }
    if (!plan.parts.empty()) {
      std::vector<std::uint64_t> of_pieces;
      for (const std::uint32_t part : plan.parts) of_pieces.push_back(ranks[part]);
      MCR_TRY(write_numbers(dataset_.get(), free_name("ranks").c_str(), of_pieces));
    }
    if (!plan.offsets.empty()) {
      MCR_TRY(write_numbers(dataset_.get(), free_name("offsets").c_str(), plan.offsets));
    }
    return {};
  }

  Result<std::optional<std::uint64_t>> place_frame(const DatasetPlan& plan,
                                                   const EncodedFrame& frame) override {
    restart::DatasetEntry& entry = datasets_.back();
    restart::FramePlace& place = frames_[entry.first_frame + frame.frame];
    place.stored_bytes = static_cast<std::uint32_t>(frame.stored.size());
    place.raw_bytes = frame.raw_bytes;
    place.checksum = checksum(frame.stored);
    stored_bytes_.back() += frame.stored.size();
    errno = 0;
    for_hdf5_.expect_frame(frame.stored);
    const herr_t status = H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, 0,
                                         as_hsize(plan.chunk_offset(frame.frame)).data(),
                                         frame.stored.size(), frame.stored.data());
    const auto found = for_hdf5_.take_place();
    if (status < 0 || for_hdf5_.error())
      return write_error(path_ + ": a frame of " + plan.name + " cannot be placed");
    place.file_offset = found.value_or(0);
    return found;
  }

  Result<void> store(std::uint64_t place, ByteSpan stored) const override {
    MCR_TRY(output_.write_at(place, stored));
    output_.start_writing_back(place, stored.size());
    return {};
  }

  Result<void> write_group_attributes(const std::string& path, bool is_needed,
                                      const Datatypes& types,
                                      const std::vector<AttributeValue>& attributes) override {
    OwnedId group(path.empty() ? H5Gopen2(file_.get(), "variables", H5P_DEFAULT)
                               : open_existing_group(path));
    if (!group.is_valid() && !is_needed) return {};  // the container has no such group
    if (!group.is_valid()) {
      group = OwnedId(
          H5Gcreate2(variables_.get(), path.c_str(), make_groups_.get(), H5P_DEFAULT, H5P_DEFAULT));
      if (!group.is_valid()) return write_error("group " + path + " cannot be made");
    }
    for (const AttributeValue& attribute : attributes) {
      MCR_TRY(copy_attribute(group.get(), types, attribute));
    }
    return {};
  }

  Result<Totals> finish(restart::Index& index) override {
    MCR_TRY(end_dataset());
    index.datasets = std::move(datasets_);
    index.frames = std::move(frames_);
    MCR_TRY(write_part_table(index));
    MCR_TRY(write_root_attributes(index.set));
    const restart::IndexBytes bytes = restart::write_index(index);
    restart::UserBlock block =
        restart::user_block_of(bytes, MCR_TRY(write_index_dataset(bytes.bytes)));
    block.version = version_of(index.set);
    block.uuid = uuid_;
    errno = 0;
    const bool variables_closed = variables_.close();
    if (!variables_closed || !file_.close() || for_hdf5_.error())
      return write_error(path_ + " cannot be closed");

    MCR_TRY(output_.write_at(0, restart::write_user_block(block)));
    return Totals{MCR_TRY(output_.size()), std::move(stored_bytes_)};
  }

 private:
  /// Returns the error of the file system if there was one, else HDF5's own words.
  [[nodiscard]] Error write_error(const std::string& what) const {
    if (!for_hdf5_.error()) return hdf5_write_error(what);
    const Error& error = *for_hdf5_.error();
    return {error.cause, what + ": " + error.message, error.system_error};
  }

  static std::uint32_t version_of(const restart::SetIdentity& set) {
    return set.bundled.empty() ? restart::container_version : restart::bundle_version;
  }

  static std::vector<hsize_t> as_hsize(const std::vector<std::uint64_t>& numbers) {
    return {numbers.begin(), numbers.end()};
  }

  /// What HDF5 is told of a dataset besides name and type. Kept for the next dataset, because
  /// consecutive variables often have the same form, and a property list takes as long to make as
  /// the rest of a dataset.
  struct Form {
    std::vector<std::uint64_t> extents, chunk;
    std::size_t type_bytes = 0;
    DatasetStorage storage = DatasetStorage::frames;
    bool linked = false;
    OwnedId properties;
    OwnedId space;
  };

  Result<void> take_form(const DatasetPlan& plan, const Encoding& encoding) {
    if (form_.space.is_valid() && form_.extents == plan.extents && form_.chunk == plan.chunk &&
        form_.type_bytes == plan.type_bytes && form_.storage == encoding.storage &&
        form_.linked == plan.linked) {
      return {};
    }
    form_ = {plan.extents,     plan.chunk,  static_cast<std::size_t>(plan.type_bytes),
             encoding.storage, plan.linked, OwnedId(),
             OwnedId()};
    const auto rank = static_cast<int>(plan.extents.size());
    form_.properties = OwnedId(H5Pcreate(H5P_DATASET_CREATE));
    const hid_t properties = form_.properties.get();
    H5Pset_chunk(properties, rank, as_hsize(plan.chunk).data());
    H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
    H5Pset_attr_phase_change(properties, 16, 8);
    // Times and spare room for attributes are 6 % of a container of variables of 1 KiB (docs/performance.md).
    // Attributes can still be added.
    H5Pset_dset_no_attrs_hint(properties, true);
    H5Pset_obj_track_times(properties, false);
    MCR_TRY(set_filters(properties, plan, encoding));
    form_.space = OwnedId(H5Screate_simple(rank, as_hsize(plan.extents).data(), nullptr));
    return {};
  }

  Result<void> set_filters(hid_t properties, const DatasetPlan& plan,
                           const Encoding& encoding) const {
    if (encoding.storage == DatasetStorage::deflate) {
      if (plan.type_bytes > 1 && H5Pset_shuffle(properties) < 0)
        return write_error("shuffle filter");
      if (H5Pset_deflate(properties, 6) < 0) return write_error("deflate filter");
      return {};
    }
    restart::FilterParameters parameters;
    parameters.chunk_bytes = static_cast<std::uint32_t>(plan.chunk_bytes());
    parameters.element_bytes = static_cast<std::uint32_t>(plan.type_bytes);
    if (plan.linked) parameters.set_container(uuid_);
    const auto values = parameters.values();
    constexpr std::size_t without_container = 3;
    if (H5Pset_filter(properties, restart::filter_id, H5Z_FLAG_MANDATORY,
                      plan.linked ? values.size() : without_container, values.data()) < 0) {
      return write_error("filter for frames");
    }
    return {};
  }

  /// Returns a name for our attribute that the program did not use for one of its own.
  [[nodiscard]] std::string free_name(std::string name) const {
    while (H5Aexists(dataset_.get(), name.c_str()) > 0) name = "mcr_" + name;
    return name;
  }

  [[nodiscard]] hid_t open_existing_group(const std::string& path) const {
    for (std::size_t slash = path.find('/');; slash = path.find('/', slash + 1)) {
      const std::string above = path.substr(0, slash);
      if (H5Lexists(variables_.get(), above.c_str(), H5P_DEFAULT) <= 0) return H5I_INVALID_HID;
      if (slash == std::string::npos) break;
    }
    return H5Gopen2(variables_.get(), path.c_str(), H5P_DEFAULT);
  }

  /// Asks HDF5 where it put the chunks of the present dataset.
  Result<void> end_dataset() {
    if (!dataset_.is_valid()) return {};
    const restart::DatasetEntry& entry = datasets_.back();
    std::vector<restart::FramePlace> places(entry.frame_count);
    ChunkSearch search{*plan_, places};
    if (H5Dchunk_iter(dataset_.get(), H5P_DEFAULT, note_chunk, &search) < 0) {
      return write_error("chunks of " + entry.name + " cannot be found");
    }
    for (std::uint32_t i = 0; i < entry.frame_count; ++i) {
      std::uint64_t& offset = frames_[entry.first_frame + i].file_offset;
      const bool is_elsewhere = offset != 0 && offset != places[i].file_offset;
      if (places[i].file_offset == 0 || is_elsewhere)
        return write_error("a chunk of " + entry.name + " is missing");
      offset = places[i].file_offset;
    }
    if (!dataset_.close()) return write_error("dataset " + entry.name + " cannot be closed");
    return {};
  }

  /// Writes /parts, for users and programs that read the container with HDF5.
  Result<void> write_part_table(const restart::Index& index) {
    std::size_t path_bytes = 1;
    for (const restart::PartEntry& part : index.parts)
      path_bytes = std::max(path_bytes, part.path.size());
    constexpr std::size_t id_bytes = 32;
    const std::size_t row = 4 + 8 + 8 + id_bytes + path_bytes;
    const OwnedId type(H5Tcreate(H5T_COMPOUND, row));
    H5Tinsert(type.get(), "rank", 0, H5T_STD_U32LE);
    H5Tinsert(type.get(), "size", 4, H5T_STD_U64LE);
    H5Tinsert(type.get(), "checksum", 12, H5T_STD_U64LE);
    H5Tinsert(type.get(), "id", 20, text_type(id_bytes).get());
    H5Tinsert(type.get(), "path", 20 + id_bytes, text_type(path_bytes).get());
    Bytes rows;
    Writer writer(rows);
    for (const restart::PartEntry& part : index.parts) {
      writer.u32(part.rank);
      writer.u64(part.size);
      writer.u64(part.checksum);
      writer.bytes(as_bytes(part.part.text()));
      writer.bytes(as_bytes(part.path));
      rows.resize(rows.size() + path_bytes - part.path.size());
    }
    const hsize_t count = index.parts.size();
    const OwnedId space(H5Screate_simple(1, &count, nullptr));
    const OwnedId table(H5Dcreate2(file_.get(), "parts", type.get(), space.get(), H5P_DEFAULT,
                                   H5P_DEFAULT, H5P_DEFAULT));
    if (!table.is_valid() || (count != 0 && H5Dwrite(table.get(), type.get(), H5S_ALL, H5S_ALL,
                                                     H5P_DEFAULT, rows.data()) < 0)) {
      return write_error("table of parts cannot be written");
    }
    return {};
  }

  Result<void> write_root_attributes(const restart::SetIdentity& set) {
    const hid_t root = file_.get();
    MCR_TRY(write_number(root, "format_version", version_of(set)));
    MCR_TRY(write_text(root, "masked_name", set.masked_name));
    MCR_TRY(write_text(root, "launch", set.launch));
    MCR_TRY(write_number(root, "sequence", set.sequence));
    MCR_TRY(write_number(root, "rank_count", set.rank_count));
    MCR_TRY(write_text(root, "scheme", set.scheme));
    MCR_TRY(write_text(root, "profile", set.profile));
    return write_text(root, "writer", set.writer);
  }

  /// Returns where the dataset's bytes lie in the file.
  Result<std::uint64_t> write_index_dataset(const Bytes& bytes) {
    const hsize_t count = bytes.size();
    const OwnedId space(H5Screate_simple(1, &count, nullptr));
    const OwnedId dataset(H5Dcreate2(file_.get(), "index", H5T_STD_U8LE, space.get(), H5P_DEFAULT,
                                     H5P_DEFAULT, H5P_DEFAULT));
    if (!dataset.is_valid() ||
        H5Dwrite(dataset.get(), H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
      return write_error("index cannot be written");
    }
    const haddr_t offset = H5Dget_offset(dataset.get());
    if (offset == HADDR_UNDEF) return write_error("index has no place");
    return offset;
  }

  const restart::File& output_;
  std::string path_;  // for messages
  ContainerFile for_hdf5_;
  std::array<std::uint8_t, 16> uuid_{};
  OwnedId make_groups_;
  OwnedId access_;
  Form form_;
  OwnedId file_;
  // Destroyed before file_, whose close would close these ids (H5F_CLOSE_STRONG).
  OwnedId variables_;
  OwnedId dataset_;
  const DatasetPlan* plan_ = nullptr;  // of dataset_
  std::vector<restart::DatasetEntry> datasets_;
  std::vector<restart::FramePlace> frames_;
  std::vector<std::uint64_t> stored_bytes_;
};

}  // namespace

Result<std::unique_ptr<ContainerWriter>> ContainerWriter::create(const restart::File& file,
                                                                 const std::string& path) {
  auto writer = std::make_unique<Hdf5ContainerWriter>(file, path);
  MCR_TRY(writer->open());
  return std::unique_ptr<ContainerWriter>(std::move(writer));
}

}  // namespace mcr::aggregation
