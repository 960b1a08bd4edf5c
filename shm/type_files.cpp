#include "shm/type_files.hpp"

#include <unistd.h>

#include <cerrno>

namespace hyphos::shm {
namespace {

std::string types_name(std::uint64_t id, std::uint32_t number) {
  return to_hex(id) + "." + std::to_string(number) + ".types";
}

/// Appends the file's content. False: it is no file of definitions.
bool append(const Domain& domain, const std::string& name, std::string& out) {
  std::uint64_t size = 0;
  const auto file = domain.open_file(name, size, false);
  if (!file || size > kMaxTypeBytes - out.size()) return false;
  const std::size_t before = out.size();
  out.resize(before + size);
  const ssize_t n = ::pread(file->get(), out.data() + before, size, 0);
  if (n == static_cast<ssize_t>(size)) return true;
  out.resize(before);
  return false;
}

}  // namespace

Result<void> TypeFiles::add(std::string_view definitions) {
  const std::string name = types_name(self_->id(), files_);
  if (files_ == kMaxTypeFiles || definitions.size() > kMaxTypeBytes - bytes_) {
    return Error{Code::exhausted,
                 "a process publishes at most " + std::to_string(kMaxTypeBytes >> 20) +
                     " MiB of type definitions, in at most " + std::to_string(kMaxTypeFiles) +
                     " files",
                 self_->domain().path() + "/" + name};
  }
  const auto file = self_->domain().create(definitions.size(), name);
  if (!file) return file.error();
  const ssize_t n = ::pwrite(file->get(), definitions.data(), definitions.size(), 0);
  if (n != static_cast<ssize_t>(definitions.size())) {
    return os_error(errno, "cannot write type definitions", self_->domain().path() + "/" + name);
  }
  if (auto linked = self_->domain().publish(*file, name); !linked) return linked;
  ++files_;
  bytes_ += definitions.size();
  return {};
}

Result<std::vector<PublishedTypes>> read_types(const std::string& domain_name,
                                               const std::filesystem::path& base) {
  std::vector<PublishedTypes> all;
  const auto domain = Domain::find(base, domain_name);
  if (!domain && domain.error().code == Code::not_found) return all;
  if (!domain) return domain.error();
  for (const std::uint64_t id : domain->participants()) {
    const auto control = Control::open(*domain, id);
    if (!control || !control->locked()) continue;
    PublishedTypes one{id, control->pid(), control->process(), {}};
    for (std::uint32_t n = 0; n < kMaxTypeFiles; ++n) {
      if (!append(*domain, types_name(id, n), one.definitions)) break;
    }
    if (!one.definitions.empty()) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace hyphos::shm
