#include "view/report.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>

#include "base/json.hpp"
#include "view/app_impl.hpp"

namespace hyphos::view {
namespace {

/// A line of /proc/self/status in kB.
std::size_t status_bytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

double cpu_seconds() {
  std::timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Error failure(const std::string& path) {
  const int code = errno;
  return {code == ENOENT   ? Code::not_found
          : code == EACCES ? Code::permission
          : code == ENOSPC ? Code::exhausted
                           : Code::io,
          std::string("cannot write the report: ") + std::strerror(code), path};
}

}  // namespace

Report make_report(App& app) {
  auto& impl = static_cast<App::Impl&>(app.session());
  Report made;
  made.cpu_s = cpu_seconds();
  made.frames = app.frames();
  for (const SceneView::Item& item : impl.scene_->items()) {
    made.messages += item.display->counters().taken;
  }
  const RenderCounters drawn = impl.renderer_->counters();
  made.uploads = drawn.uploads;
  made.points = drawn.points;
  made.points_drawn = drawn.points_drawn;
  made.full_redraws = drawn.full_redraws;
  made.budget_bytes = static_cast<std::size_t>(impl.budget_mb_ * 1e6);
  made.display_bytes = impl.scene_->bytes();
  made.source_bytes = impl.source_->memory();
  impl.workspace_.for_each([&made](Panel& panel) { made.panel_bytes += panel.memory(); });
  made.picture_bytes = impl.renderer_->bytes();
  made.removed = impl.scene_->removed();
  made.notice = impl.scene_->budget_notice();
  for (const Channel& channel : impl.source_->channels()) {
    const Loss loss = impl.source_->loss(channel.id);
    made.received += loss.received;
    made.dropped += loss.dropped;
    made.missing += loss.missing;
    made.corrupt += loss.corrupt;
  }
  made.resident_bytes = status_bytes("VmRSS");
  made.peak_bytes = status_bytes("VmHWM");
  return made;
}

std::string to_json(const Report& report) {
  JsonWriter out;
  const auto count = [&out](std::string_view name, std::uint64_t value) {
    out.key(name);
    out.number(static_cast<std::int64_t>(value));
  };
  out.begin_object();
  out.key("cpu_s");
  out.real(report.cpu_s);
  count("frames", report.frames);
  count("messages", report.messages);
  count("uploads", report.uploads);
  count("points", report.points);
  count("points_drawn", report.points_drawn);
  count("full_redraws", report.full_redraws);
  count("budget_bytes", report.budget_bytes);
  count("display_bytes", report.display_bytes);
  count("source_bytes", report.source_bytes);
  count("panel_bytes", report.panel_bytes);
  count("picture_bytes", report.picture_bytes);
  count("removed", report.removed);
  out.key("notice");
  out.text(report.notice);
  count("received", report.received);
  count("dropped", report.dropped);
  count("missing", report.missing);
  count("corrupt", report.corrupt);
  count("resident_bytes", report.resident_bytes);
  count("peak_bytes", report.peak_bytes);
  out.end_object();
  return std::move(out).take();
}

Result<void> save_report(const std::string& path, const Report& report) {
  const std::string part = path + ".part";
  std::ofstream out(part, std::ios::trunc);
  out << to_json(report);
  out.close();
  if (!out || std::rename(part.c_str(), path.c_str()) != 0) {
    const Error error = failure(path);
    ::unlink(part.c_str());
    return error;
  }
  return success();
}

}  // namespace hyphos::view
