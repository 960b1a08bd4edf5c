#include "shm/control.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace hyphos::shm {

Result<Control> Control::create(const Domain& domain, std::uint64_t id,
                                std::string_view process_name) {
  const std::string name = control_name(id);
  auto file = domain.create(control_size(1), name);
  if (!file) return file.error();
  auto mapping = Mapping::map(file->get(), 0, kPage, Mapping::Access::write, true);
  if (!mapping) return mapping.error();
  auto chunk = Mapping::map(file->get(), kPage, sizeof(TableChunk), Mapping::Access::write, true);
  if (!chunk) return chunk.error();
  // A new file is all zero, which is the correct start of every counter, flag and record.
  Control control;
  control.mapping_ = std::move(*mapping);
  control.chunks_.push_back(std::move(*chunk));
  control.where_ = domain.path() + "/" + name;
  control.own_ = true;
  ControlHeader& header = control.header();
  header.file = {kMagic, kLayoutVersion, FileKind::control, id, control_size(1)};
  control.id_ = id;
  control.pid_ = header.pid = ::getpid();
  control.start_ = header.start = process_start(header.pid);
  control.pid_space_ = header.pid_namespace = pid_namespace();
  put_text(header.process, process_name);
  put_text(header.host, host_name());
  control.process_ = get_text(header.process);
  control.host_ = get_text(header.host);
  if (!lock_for_life(*file)) {
    return Error{Code::unsupported, "the file system has no locks", domain.path() + "/" + name};
  }
  if (auto linked = domain.publish(*file, name); !linked) return linked.error();
  control.lock_ = std::move(*file);
  return control;
}

Result<Control> Control::open(const Domain& domain, std::uint64_t id) {
  const std::string where = domain.path() + "/" + control_name(id);
  std::uint64_t size = 0;
  auto file = domain.open_file(control_name(id), size);
  if (!file) return file.error();
  const auto bad = [&] { return Error{Code::corrupt, "is not the file of a participant", where}; };
  if (size < sizeof(FileHeader)) return bad();
  auto mapping = Mapping::map(file->get(), 0, std::min<std::uint64_t>(size, kPage),
                              Mapping::Access::write, false);
  if (!mapping) return mapping.error();
  const FileHeader seen = *reinterpret_cast<const FileHeader*>(mapping->data());
  if (seen.magic == kMagic && seen.version != kLayoutVersion) {
    return Error{Code::unsupported,
                 "was created by another version of Hyphos (layout " +
                     std::to_string(seen.version) + ", this is " + std::to_string(kLayoutVersion) +
                     "). Stop that process, or use another domain",
                 where};
  }
  if (!seen.matches(FileKind::control, id, control_size(1)) || size < control_size(1) ||
      (size - kPage) % sizeof(TableChunk) != 0) {
    return bad();
  }
  Control control;
  control.mapping_ = std::move(*mapping);
  control.lock_ = std::move(*file);
  control.where_ = where;
  if (!control.map_chunks(1)) return bad();
  const ControlHeader& header = control.header();
  control.id_ = id;
  control.pid_ = header.pid;
  control.start_ = header.start;
  control.pid_space_ = header.pid_namespace;
  control.process_ = get_text(header.process);
  control.host_ = get_text(header.host);
  return control;
}

namespace {

void raise(std::atomic<std::uint32_t>& mark, std::uint32_t to) {
  if (mark.load() < to) mark.store(to);
}

}  // namespace

bool Control::map_chunks(std::size_t wanted) {
  if (wanted > kMaxChunks) return false;
  struct stat info{};
  while (chunks_.size() < wanted) {
    const std::uint64_t end = control_size(chunks_.size() + 1);
    if (::fstat(lock_.get(), &info) != 0 || static_cast<std::uint64_t>(info.st_size) < end) {
      return false;
    }
    auto chunk = Mapping::map(lock_.get(), end - sizeof(TableChunk), sizeof(TableChunk),
                              Mapping::Access::write, own_);
    if (!chunk) return false;
    chunks_.push_back(std::move(*chunk));
  }
  return true;
}

// The chunk is mapped before the mark is set, so a reader that sees the mark finds the chunk.
Result<void> Control::make_room(std::uint32_t index) {
  while (index >= chunks_.size() * kChunkRecords) {
    const std::uint64_t at = control_size(chunks_.size());
    if (auto got = reserve(lock_, at, sizeof(TableChunk), where_); !got) return got;
    if (!map_chunks(chunks_.size() + 1)) {
      return Error{Code::exhausted, "cannot map a further part of the tables", where_};
    }
  }
  return {};
}

template <typename T>
std::optional<std::vector<T>> Control::read_table(
    std::array<Published<T>, kChunkRecords> TableChunk::* table, std::uint32_t used) {
  used = std::min(used, kMaxChunks * kChunkRecords);
  if (!map_chunks((used + kChunkRecords - 1) / kChunkRecords)) return {};
  std::vector<T> found;
  T record;
  for (std::uint32_t i = 0; i < used; ++i) {
    if (!(chunk(i / kChunkRecords).*table)[i % kChunkRecords].read(record)) return {};
    if (record.serial != 0) found.push_back(record);
  }
  return found;
}

std::optional<std::vector<EndpointRecord>> Control::endpoints() {
  return read_table(&TableChunk::endpoints, header().endpoints.load());
}

std::optional<std::vector<RingRecord>> Control::rings() {
  return read_table(&TableChunk::rings, header().rings.load());
}

Result<void> Control::set_endpoint(std::uint32_t index, const EndpointRecord& record) {
  if (auto room = make_room(index); !room) return room;
  chunk(index / kChunkRecords).endpoints[index % kChunkRecords].write(record);
  raise(header().endpoints, index + 1);
  header().table_version.fetch_add(1);
  return {};
}

Result<void> Control::set_ring(std::uint32_t index, const RingRecord& record) {
  if (auto room = make_room(index); !room) return room;
  chunk(index / kChunkRecords).rings[index % kChunkRecords].write(record);
  raise(header().rings, index + 1);
  header().table_version.fetch_add(1);
  return {};
}

}  // namespace hyphos::shm
