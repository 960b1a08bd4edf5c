#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <vector>

#include "bindings.hpp"
#include "bytes.hpp"
#include "gateway/types/types.hpp"

// ROS messages as bytes. hyphos/ros/convert.py adds the types.
namespace hyphos::python {
namespace {

using gateway::ChannelCodec;
using gateway::Form;
using gateway::Types;

Form parse_form(std::string_view word) {
  if (word == "ros1") return Form::ros1;
  if (word == "cdr") return Form::cdr;
  if (word == "json") return Form::json;
  if (word == "cbor") return Form::cbor;
  throw nb::value_error("unknown format: give ros1, cdr, json or cbor");
}

std::span<const std::byte> bytes_of(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

const ChannelCodec& carrier_of(Types& types, std::string_view ros_name, const std::string& carrier,
                               bool attached) {
  if (carrier.empty()) return *types.default_codec(ros_name).or_throw();
  const TypeId id = make_type_id(carrier, attached ? Encoding::attached : Encoding::protobuf);
  return *types.codec(ros_name, id).or_throw();
}

/// Converts a ROS message. Returns (payload, [buffers], name of the Hyphos message type).
nb::tuple read(Types& types, std::string_view ros_name, std::string_view form,
               const nb::bytes& message, const std::string& carrier, bool attached,
               std::int64_t now_ns) {
  const ChannelCodec& found = carrier_of(types, ros_name, carrier, attached);
  const Form read_form = parse_form(form);
  const auto in = bytes_of(message);
  RawMessage made;
  {
    nb::gil_scoped_release release;
    made = found.converter.read(read_form, in, &WritableBuffer::on_heap, now_ns).or_throw();
  }
  nb::list buffers;
  for (const Buffer& buffer : made.buffers) buffers.append(nb::cast(buffer));
  return nb::make_tuple(nb::cast(made.payload), buffers, found.id.name);
}

Buffer write(Types& types, std::string_view ros_name, std::string_view form, nb::handle payload,
             const nb::sequence& buffers, const std::string& carrier) {
  const ChannelCodec& found = carrier_of(types, ros_name, carrier, nb::len(buffers) > 0);
  const Form written = parse_form(form);
  RawMessage message;
  message.payload = to_buffer(payload, &WritableBuffer::on_heap);
  for (std::size_t i = 0; i < nb::len(buffers) && i < kMaxAttachedBuffers; ++i) {
    message.buffers.push_back(to_buffer(nb::object(buffers[i]), &WritableBuffer::on_heap));
  }
  nb::gil_scoped_release release;
  return found.converter.write(written, message).or_throw().joined();
}

}  // namespace

void bind_convert(nb::module_& module) {
  nb::class_<Types>(module, "RosTypes")
      .def(nb::new_([](const nb::bytes& descriptors) {
             return Types::make(bytes_of(descriptors)).or_throw();
           }),
           nb::arg("descriptors"))
      .def("read", &read, nb::arg("ros_name"), nb::arg("form"), nb::arg("message"),
           nb::arg("carrier"), nb::arg("attached"), nb::arg("now_ns"))
      .def("write", &write, nb::arg("ros_name"), nb::arg("form"), nb::arg("payload"),
           nb::arg("buffers"), nb::arg("carrier"))
      .def("default_carrier",
           [](Types& types, std::string_view ros_name) {
             const TypeId& id = types.default_codec(ros_name).or_throw()->id;
             return nb::make_tuple(id.name, id.encoding == Encoding::attached);
           })
      .def("message", [](const Types& types, std::string_view name) {
        const auto info = types.message(name).or_throw();
        return nb::make_tuple(info.name, info.md5, info.type_hash, info.text);
      });
}

}  // namespace hyphos::python
