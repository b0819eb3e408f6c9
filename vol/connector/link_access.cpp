// SPDX-License-Identifier: BSD-3-Clause
// When HDF5 follows the link, it takes the property list from its own context, so replacing the
// call's argument has no effect. Instead, the list inside the program's link access list is
// replaced during the call and restored after it. All this happens under HDF5's lock.
#include "vol/connector/link_access.hpp"

#include "vol/binding/error_stack.hpp"
#include "vol/binding/guard.hpp"
#include "vol/binding/id.hpp"
#include "vol/driver/driver.hpp"

namespace mcr::vol {

namespace {

class DriverInLinks {
 public:
  explicit DriverInLinks(hid_t link_list) : link_list_(link_list) {
    if (link_list <= 0) return;
    given_ = Id(hdf5.H5Pget_elink_fapl(link_list));
    if (given_.get() <= 0 || !has_default_driver(given_.get())) {
      if (given_.get() == H5P_DEFAULT) (void)given_.release();
      given_ = Id();
      return;
    }
    const Id ours = list_with_driver(given_.get(), nullptr);
    if (!ours || hdf5.H5Pset_elink_fapl(link_list, ours.get()) < 0) given_ = Id();
  }
  ~DriverInLinks() {
    if (!given_) return;
    const KeptErrors kept;
    hdf5.H5Pset_elink_fapl(link_list_, given_.get());
    given_ = Id();
  }
  DriverInLinks(const DriverInLinks&) = delete;
  DriverInLinks& operator=(const DriverInLinks&) = delete;

 private:
  hid_t link_list_;
  Id given_;
};

hid_t link_list_of(const H5VL_loc_params_t* place) {
  if (place == nullptr) return H5I_INVALID_HID;
  if (place->type == H5VL_OBJECT_BY_NAME) return place->loc_data.loc_by_name.lapl_id;
  if (place->type == H5VL_OBJECT_BY_IDX) return place->loc_data.loc_by_idx.lapl_id;
  return H5I_INVALID_HID;
}

void* object_open(void* object, const H5VL_loc_params_t* place, H5I_type_t* type,
                  hid_t transfer_list, void** request) {
  const DriverInLinks driver(link_list_of(place));
  return native_class().object_cls.open(object, place, type, transfer_list, request);
}

herr_t object_get(void* object, const H5VL_loc_params_t* place, H5VL_object_get_args_t* arguments,
                  hid_t transfer_list, void** request) {
  const DriverInLinks driver(link_list_of(place));
  return native_class().object_cls.get(object, place, arguments, transfer_list, request);
}

herr_t object_specific(void* object, const H5VL_loc_params_t* place,
                       H5VL_object_specific_args_t* arguments, hid_t transfer_list,
                       void** request) {
  const DriverInLinks driver(link_list_of(place));
  return native_class().object_cls.specific(object, place, arguments, transfer_list, request);
}

// H5Oget_info1 and similar calls, which h5py still uses.
herr_t object_optional(void* object, const H5VL_loc_params_t* place,
                       H5VL_optional_args_t* arguments, hid_t transfer_list, void** request) {
  const DriverInLinks driver(link_list_of(place));
  return native_class().object_cls.optional(object, place, arguments, transfer_list, request);
}

herr_t link_get(void* object, const H5VL_loc_params_t* place, H5VL_link_get_args_t* arguments,
                hid_t transfer_list, void** request) {
  const DriverInLinks driver(link_list_of(place));
  return native_class().link_cls.get(object, place, arguments, transfer_list, request);
}

herr_t link_specific(void* object, const H5VL_loc_params_t* place,
                     H5VL_link_specific_args_t* arguments, hid_t transfer_list, void** request) {
  const DriverInLinks driver(link_list_of(place));
  return native_class().link_cls.specific(object, place, arguments, transfer_list, request);
}

void* group_open(void* object, const H5VL_loc_params_t* place, const char* name, hid_t access_list,
                 hid_t transfer_list, void** request) {
  const DriverInLinks driver(access_list);
  return native_class().group_cls.open(object, place, name, access_list, transfer_list, request);
}

void* dataset_open(void* object, const H5VL_loc_params_t* place, const char* name,
                   hid_t access_list, hid_t transfer_list, void** request) {
  const DriverInLinks driver(access_list);
  return native_class().dataset_cls.open(object, place, name, access_list, transfer_list, request);
}

void* datatype_open(void* object, const H5VL_loc_params_t* place, const char* name,
                    hid_t access_list, hid_t transfer_list, void** request) {
  const DriverInLinks driver(access_list);
  return native_class().datatype_cls.open(object, place, name, access_list, transfer_list, request);
}

}  // namespace

void follow_links_with_driver(H5VL_class_t& connector) {
  connector.object_cls.open = guarded<&object_open>;
  connector.object_cls.get = guarded<&object_get>;
  connector.object_cls.specific = guarded<&object_specific>;
  connector.object_cls.optional = guarded<&object_optional>;
  connector.link_cls.get = guarded<&link_get>;
  connector.link_cls.specific = guarded<&link_specific>;
  connector.group_cls.open = guarded<&group_open>;
  connector.dataset_cls.open = guarded<&dataset_open>;
  connector.datatype_cls.open = guarded<&datatype_open>;
}

}  // namespace mcr::vol
