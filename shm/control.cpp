#include "shm/control.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>

namespace hyphos::shm {

Result<Control> Control::create(const Domain& domain, std::uint64_t id,
                                std::string_view process_name) {
  const std::string name = control_name(id);
  auto file = domain.create(sizeof(ControlFile), name);
  if (!file) return file.error();
  auto mapping = Mapping::map(file->get(), 0, sizeof(ControlFile), Mapping::Access::write, true);
  if (!mapping) return mapping.error();
  // A new file is all zero, which is the right start for every counter, flag and record.
  Control control;
  control.mapping_ = std::move(*mapping);
  ControlHeader& header = control.header();
  header.file = {kMagic, kLayoutVersion, FileKind::control, id, sizeof(ControlFile)};
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
  const auto bad = [&] { return Error{Code::corrupt, "is not a participant's file", where}; };
  if (size < sizeof(FileHeader)) return bad();
  auto mapping = Mapping::map(file->get(), 0, size, Mapping::Access::write, false);
  if (!mapping) return mapping.error();
  const FileHeader seen = *reinterpret_cast<const FileHeader*>(mapping->data());
  if (seen.magic == kMagic && seen.version != kLayoutVersion) {
    return Error{Code::unsupported,
                 "was made by another version of Hyphos (layout " + std::to_string(seen.version) +
                     ", this is " + std::to_string(kLayoutVersion) +
                     "); stop that process, or use another domain",
                 where};
  }
  if (!seen.matches(FileKind::control, id, size) || size != sizeof(ControlFile)) return bad();
  Control control;
  control.mapping_ = std::move(*mapping);
  control.lock_ = std::move(*file);
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

template <typename T, std::size_t N>
std::optional<std::vector<T>> read_table(const std::array<Published<T>, N>& table,
                                         std::uint32_t used) {
  std::vector<T> found;
  T record;
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(used, N); ++i) {
    if (!table[i].read(record)) return {};
    if (record.serial != 0) found.push_back(record);
  }
  return found;
}

void raise(std::atomic<std::uint32_t>& mark, std::uint32_t to) {
  if (mark.load() < to) mark.store(to);
}

}  // namespace

std::optional<std::vector<EndpointRecord>> Control::endpoints() const {
  return read_table(file().endpoints, header().endpoints.load());
}

std::optional<std::vector<LaneRecord>> Control::lanes() const {
  return read_table(file().lanes, header().lanes.load());
}

void Control::set_endpoint(std::uint32_t index, const EndpointRecord& record) {
  file().endpoints[index].write(record);
  raise(header().endpoints, index + 1);
  header().table_version.fetch_add(1);
}

void Control::set_lane(std::uint32_t index, const LaneRecord& record) {
  file().lanes[index].write(record);
  raise(header().lanes, index + 1);
  header().table_version.fetch_add(1);
}

}  // namespace hyphos::shm
