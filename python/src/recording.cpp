#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.hpp"
#include "bytes.hpp"
#include "handles.hpp"
#include "record/mcap_writer.hpp"
#include "record/recorder.hpp"

namespace nb = nanobind;

namespace hyphos::python {
namespace {

using record::Recorder;
using RecorderHandle = Handle<std::shared_ptr<Recorder>>;

record::Compression parse_compression(const std::string& word) {
  if (word == "zstd") return record::Compression::zstd;
  if (word == "lz4") return record::Compression::lz4;
  if (word == "none") return record::Compression::none;
  throw Exception(
      {Code::invalid_config, "unknown compression '" + word + "': give zstd, lz4 or none", ""});
}

/// A number that the caller sets: the time of the replayed recording.
struct ManualClock {
  std::shared_ptr<std::atomic<std::int64_t>> ns = std::make_shared<std::atomic<std::int64_t>>(0);
};

record::ChannelSpec make_spec(const std::string& channel, const std::string& message_encoding,
                              const std::optional<std::string>& schema_name,
                              const std::string& schema_encoding, const nb::bytes& schema_data,
                              record::mcap::Dictionary metadata, std::uint32_t latched_depth) {
  record::ChannelSpec spec;
  spec.name = channel;
  spec.message_encoding = message_encoding;
  if (schema_name) {
    spec.schema = record::mcap::Schema{0, *schema_name, schema_encoding,
                                       std::string(schema_data.c_str(), schema_data.size())};
  }
  spec.metadata = std::move(metadata);
  spec.latched_depth = latched_depth;
  return spec;
}

record::mcap::Attachment make_attachment(std::string name, std::string media_type,
                                         const nb::bytes& data, std::uint64_t log_ns,
                                         std::uint64_t create_ns) {
  return {log_ns, create_ns, std::move(name), std::move(media_type),
          std::string(data.c_str(), data.size())};
}

nb::dict tally_dict(const record::Tally& tally) {
  nb::dict out;
  out["received"] = tally.received;
  out["written"] = tally.written;
  out["bytes"] = tally.bytes;
  out["missing"] = tally.missing;
  out["drop_queue"] = tally.drop_queue;
  out["drop_disk"] = tally.drop_disk;
  out["drop_convert"] = tally.drop_convert;
  return out;
}

std::unique_ptr<RecorderHandle> open_recorder(
    const std::string& path, bool overwrite, std::size_t chunk_bytes,
    const std::string& compression, std::size_t queue_bytes,
    const std::optional<std::size_t>& hold_bytes, std::int64_t flush_ns, std::uint64_t split_bytes,
    std::int64_t split_ns, unsigned keep_files, std::uint64_t ring_bytes, std::int64_t ring_ns,
    bool deterministic, const std::optional<ManualClock>& clock, bool sync) {
  record::Options options;
  options.path = path;
  options.overwrite = overwrite;
  options.chunk_bytes = chunk_bytes;
  options.compression = parse_compression(compression);
  options.queue_bytes = queue_bytes;
  options.hold_bytes = hold_bytes.value_or(record::kAutomatic);
  options.flush_ns = flush_ns;
  options.split_bytes = split_bytes;
  options.split_ns = split_ns;
  options.keep_files = keep_files;
  options.ring_bytes = ring_bytes;
  options.ring_ns = ring_ns;
  options.deterministic = deterministic;
  options.sync = sync;
  if (clock) {
    options.clock = [ns = clock->ns] { return ns->load(std::memory_order_acquire); };
  }
  nb::gil_scoped_release release;
  return std::make_unique<RecorderHandle>(Recorder::open(std::move(options)).or_throw());
}

void bind_status(nb::module_& module) {
  nb::class_<record::Status>(module, "RecorderStatus", "The current status of a recorder.")
      .def_prop_ro("channels",
                   [](const record::Status& status) {
                     nb::dict out;
                     for (const auto& [name, tally] : status.channels) {
                       out[name.c_str()] = tally_dict(tally);
                     }
                     return out;
                   })
      .def_ro("bytes_on_disk", &record::Status::bytes_on_disk)
      .def_ro("waiting_bytes", &record::Status::waiting_bytes)
      .def_ro("held_bytes", &record::Status::held_bytes)
      .def_ro("ring_bytes", &record::Status::ring_bytes)
      .def_ro("ring_ns", &record::Status::ring_ns)
      .def_ro("uncompressed_chunks", &record::Status::uncompressed_chunks)
      .def_prop_ro("files",
                   [](const record::Status& status) {
                     std::vector<std::string> out;
                     for (const auto& path : status.files) out.push_back(path.string());
                     return out;
                   })
      .def_prop_ro("failure", [](const record::Status& status) -> std::optional<std::string> {
        if (!status.failure) return std::nullopt;
        return status.failure->to_string();
      });
  nb::class_<record::Written>(module, "RecordingWritten", "A file that a snapshot has written.")
      .def_prop_ro("path", [](const record::Written& w) { return w.path.string(); })
      .def_ro("messages", &record::Written::messages)
      .def_ro("bytes", &record::Written::bytes)
      .def_ro("start_ns", &record::Written::start_ns)
      .def_ro("end_ns", &record::Written::end_ns);
  nb::class_<ManualClock>(module, "ManualClock", "A time that is set by hand, in nanoseconds.")
      .def(nb::init<>())
      .def_prop_rw(
          "ns", [](const ManualClock& c) { return c.ns->load(); },
          [](const ManualClock& c, std::int64_t ns) { c.ns->store(ns); });
}

void bind_recorder(nb::module_& module) {
  nb::class_<RecorderHandle>(module, "Recorder", "Writes channels to MCAP files, in C++ threads.")
      .def_static(
          "open", &open_recorder, nb::arg("path"), nb::kw_only(), nb::arg("overwrite") = false,
          nb::arg("chunk_bytes") = 4 << 20, nb::arg("compression") = "zstd",
          nb::arg("queue_bytes") = 256 << 20, nb::arg("hold_bytes") = nb::none(),
          nb::arg("flush_ns") = 1'000'000'000, nb::arg("split_bytes") = 0, nb::arg("split_ns") = 0,
          nb::arg("keep_files") = 0, nb::arg("ring_bytes") = 0, nb::arg("ring_ns") = 0,
          nb::arg("deterministic") = false, nb::arg("clock") = nb::none(), nb::arg("sync") = false)
      .def(
          "add_channel",
          [](const RecorderHandle& r, const std::string& channel,
             const std::string& message_encoding, const std::optional<std::string>& schema_name,
             const std::string& schema_encoding, const nb::bytes& schema_data,
             record::mcap::Dictionary metadata, std::uint32_t latched_depth) {
            return r.get()
                ->add_channel(make_spec(channel, message_encoding, schema_name, schema_encoding,
                                        schema_data, std::move(metadata), latched_depth))
                .or_throw();
          },
          nb::arg("channel"), nb::arg("message_encoding"), nb::arg("schema_name") = nb::none(),
          nb::arg("schema_encoding") = "", nb::arg("schema_data") = nb::bytes(""),
          nb::arg("metadata") = record::mcap::Dictionary(), nb::arg("latched_depth") = 0)
      .def(
          "subscribe",
          [](const RecorderHandle& r, const Handle<Node>& node, std::uint16_t id,
             const std::string& channel, const TypeId& type, const Policy& policy) {
            const auto recorder = r.get();
            const Node of = node.get();
            nb::gil_scoped_release release;
            recorder->subscribe(of, id, channel, type, policy).or_throw();
          },
          nb::arg("node"), nb::arg("id"), nb::arg("channel"), nb::arg("type"), nb::arg("policy"))
      .def(
          "accept",
          [](const RecorderHandle& r, std::uint16_t id, std::int64_t publish_ns, nb::handle payload,
             const nb::sequence& buffers, std::uint64_t sequence, std::uint64_t sender) {
            BufferList list;
            for (const nb::handle buffer : buffers) {
              list.push_back(to_buffer(buffer, &WritableBuffer::on_heap));
            }
            const Buffer body = to_buffer(payload, &WritableBuffer::on_heap);
            const auto recorder = r.get();
            nb::gil_scoped_release release;
            recorder->accept(id, sender, sequence, publish_ns, body, list);
          },
          nb::arg("id"), nb::arg("publish_ns"), nb::arg("payload"), nb::arg("buffers") = nb::list(),
          nb::arg("sequence") = 0, nb::arg("sender") = 0)
      .def(
          "refuse",
          [](const RecorderHandle& r, std::uint16_t id, std::uint64_t sequence,
             std::uint64_t sender) { r.get()->refuse(id, sender, sequence); },
          nb::arg("id"), nb::arg("sequence"), nb::arg("sender"))
      .def(
          "attach",
          [](const RecorderHandle& r, std::string name, std::string media_type,
             const nb::bytes& data, std::uint64_t log_ns, std::uint64_t create_ns) {
            r.get()->attach(
                make_attachment(std::move(name), std::move(media_type), data, log_ns, create_ns));
          },
          nb::arg("name"), nb::arg("media_type"), nb::arg("data"), nb::arg("log_ns") = 0,
          nb::arg("create_ns") = 0)
      .def(
          "describe",
          [](const RecorderHandle& r, std::string name, record::mcap::Dictionary values) {
            r.get()->describe(std::move(name), std::move(values));
          },
          nb::arg("name"), nb::arg("values"))
      .def("flush",
           [](const RecorderHandle& r) {
             const auto recorder = r.get();
             nb::gil_scoped_release release;
             recorder->flush().or_throw();
           })
      .def("split", [](const RecorderHandle& r) { r.get()->split().or_throw(); })
      .def(
          "snapshot",
          [](const RecorderHandle& r, const std::string& path, bool overwrite) {
            const auto recorder = r.get();
            nb::gil_scoped_release release;
            return recorder->snapshot(path, overwrite).or_throw();
          },
          nb::arg("path"), nb::arg("overwrite") = false)
      .def("close",
           [](const RecorderHandle& r) {
             const auto recorder = r.get();
             nb::gil_scoped_release release;
             recorder->close().or_throw();
           })
      .def("status", [](const RecorderHandle& r) { return r.get()->status(); });
}

void bind_writer(nb::module_& module) {
  using record::McapWriter;
  nb::class_<McapWriter>(module, "McapWriter", "Writes an MCAP file message by message.")
      .def_static(
          "create",
          [](const std::string& path, const std::string& profile, bool overwrite,
             std::size_t chunk_bytes, const std::string& compression) {
            McapWriter::Options options;
            options.path = path;
            options.profile = profile;
            options.overwrite = overwrite;
            options.chunk_bytes = chunk_bytes;
            options.compression = parse_compression(compression);
            return std::make_unique<McapWriter>(McapWriter::create(options).or_throw());
          },
          nb::arg("path"), nb::arg("profile") = "hyphos", nb::kw_only(),
          nb::arg("overwrite") = false, nb::arg("chunk_bytes") = 4 << 20,
          nb::arg("compression") = "zstd")
      .def(
          "add_schema",
          [](McapWriter& w, std::string name, std::string encoding, const nb::bytes& data) {
            return w
                .add_schema(std::move(name), std::move(encoding),
                            std::string(data.c_str(), data.size()))
                .or_throw();
          },
          nb::arg("name"), nb::arg("encoding"), nb::arg("data"))
      .def(
          "add_channel",
          [](McapWriter& w, std::string topic, std::string message_encoding,
             std::uint16_t schema_id, record::mcap::Dictionary metadata) {
            return w
                .add_channel(std::move(topic), std::move(message_encoding), schema_id,
                             std::move(metadata))
                .or_throw();
          },
          nb::arg("topic"), nb::arg("message_encoding"), nb::arg("schema_id"),
          nb::arg("metadata") = record::mcap::Dictionary())
      .def(
          "write",
          [](McapWriter& w, std::uint16_t channel, std::uint64_t log_ns, std::uint64_t publish_ns,
             std::uint32_t sequence, const nb::bytes& data) {
            const auto* bytes = reinterpret_cast<const std::byte*>(data.c_str());
            w.write({channel, sequence, log_ns, publish_ns}, {bytes, data.size()}).or_throw();
          },
          nb::arg("channel"), nb::arg("log_ns"), nb::arg("publish_ns"), nb::arg("sequence"),
          nb::arg("data"))
      .def(
          "attach",
          [](McapWriter& w, std::string name, std::string media_type, const nb::bytes& data,
             std::uint64_t log_ns, std::uint64_t create_ns) {
            w.attach(
                 make_attachment(std::move(name), std::move(media_type), data, log_ns, create_ns))
                .or_throw();
          },
          nb::arg("name"), nb::arg("media_type"), nb::arg("data"), nb::arg("log_ns") = 0,
          nb::arg("create_ns") = 0)
      .def(
          "describe",
          [](McapWriter& w, const std::string& name, const record::mcap::Dictionary& values) {
            w.describe(name, values).or_throw();
          },
          nb::arg("name"), nb::arg("values"))
      .def("flush", [](McapWriter& w) { w.flush().or_throw(); })
      .def("close", [](McapWriter& w) { w.close().or_throw(); })
      .def_prop_ro("messages", &McapWriter::messages)
      .def_prop_ro("size", &McapWriter::size);
}

}  // namespace

void bind_recording(nb::module_& module) {
  bind_status(module);
  bind_recorder(module);
  bind_writer(module);
}

}  // namespace hyphos::python
