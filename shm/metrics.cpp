#include "shm/metrics.hpp"

#include "shm/control.hpp"

namespace hyphos::shm {

Result<std::vector<MetricsView>> open_metrics(const std::string& domain_name,
                                              const std::filesystem::path& base) {
  std::vector<MetricsView> views;
  auto domain = Domain::find(base, domain_name);
  if (!domain && domain.error().code == Code::not_found) return views;
  if (!domain) return domain.error();
  for (const std::uint64_t id : domain->participants()) {
    auto control = Control::open(*domain, id);
    if (!control) continue;
    std::uint64_t size = 0;
    auto file = domain->open_file(metrics_name(id), size, false);
    if (!file || size == 0) continue;
    auto memory = Mapping::map(file->get(), 0, size, Mapping::Access::read, false);
    if (!memory) continue;
    MetricsView view;
    view.participant = id;
    view.pid = control->pid();
    view.process = control->process();
    view.alive = control->locked();
    view.memory = std::move(*memory);
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace hyphos::shm
