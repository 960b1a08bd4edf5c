#include "node/params/params_impl.hpp"

#include <algorithm>
#include <random>
#include <system_error>

#include "base/config.hpp"
#include "base/config_reader.hpp"
#include "base/log.hpp"
#include "node/params/param_file.hpp"
#include "node/params/param_rules.hpp"
#include "plan/param_tree.hpp"

namespace hyphos {
namespace {

std::uint64_t random_word() {
  std::random_device source;
  return (std::uint64_t{source()} << 32U) | source();
}

bool by_option(const ParamValue& value) {
  return value.source.line == 0 && value.source.file.starts_with("--set ");
}

}  // namespace

Policy params::state_policy() {
  constexpr std::uint32_t kDepth = 8;
  Policy policy = reliable_policy(kDepth);
  policy.overflow = Overflow::drop_oldest;
  policy.latched = true;
  return policy;
}

Params::Impl::Impl(std::string node, std::string process, const NodePlan* plan, ParamFiles files,
                   graph::Graph& graph)
    : owner_{std::move(node), std::move(process), random_word()},
      planned_(plan == nullptr ? ParamValue() : plan->params),
      files_(std::move(files)),
      pool_(std::make_shared<ExecutorHandle>(graph)),
      store_([pool = pool_](std::function<void()> work) { pool->run(std::move(work)); }) {
  read_files();
}

Result<void> Params::Impl::check_open() const {
  if (pool_->graph() != nullptr) return success();
  return Error{Code::disconnected, "node '" + owner_.node + "' has been closed", owner_.node};
}

void Params::Impl::read_files() {
  // Values of this run are newer than values saved in the last run.
  if (!files_.keep.empty()) read_saved(files_.keep, false);
  if (!files_.run.empty()) read_saved(files_.run, true);
}

void Params::Impl::read_saved(const std::filesystem::path& file, bool of_this_run) {
  auto read = params::read_file(file);
  if (!read) {
    if (read.error().code == Code::not_found) return;
    std::error_code moved;
    std::filesystem::rename(file, file.string() + ".corrupt", moved);
    log::error("params",
               read.error().to_string() + ". Node '" + owner_.node +
                   "' starts with the values of its plan" +
                   (moved ? "" : ", and the file is kept as " + file.string() + ".corrupt"));
    return;
  }
  std::size_t count = 0;
  for (const params::FileParams& node : read->nodes) {
    if (node.node != owner_.node) continue;
    for (const auto& [name, value] : params::leaves_of(node.params)) {
      const ParamValue* planned = planned_.find(name);
      // --set on the command line overrides the values of the last run.
      if (!of_this_run && planned != nullptr && by_option(*planned)) continue;
      saved_.insert_or_assign(name, *value);
      ++count;
    }
  }
  if (count > 0) {
    log::info("params", "node '" + owner_.node + "' restores " + std::to_string(count) +
                            " parameters, set before its restart, from " + file.string());
  }
}

std::string Params::Impl::problem_of(const ParamInfo& info, const Check& check,
                                     const ParamVariant& value) {
  std::string why = params::value_problem(info, value);
  return why.empty() && check ? params::ask(check, value) : why;
}

Result<Params::Impl::Start> Params::Impl::planned_value(const ParamInfo& info,
                                                        const Check& check) const {
  const ParamType type = type_of(info.standard);
  const ParamValue* planned = planned_.find(info.name);
  const bool is_text = type == ParamType::text && planned != nullptr && !planned->text.empty();
  if (planned == nullptr || (planned->kind == ParamValue::Kind::null && !is_text)) {
    return Start{info.standard, ParamOrigin::standard};
  }
  auto value = params::read(type, *planned);
  if (!value) return value.error();
  if (const std::string why = problem_of(info, check, *value); !why.empty()) {
    return Error{Code::invalid_config, "nodes." + owner_.node + ".params." + info.name + ": " + why,
                 planned->source.to_string()};
  }
  return Start{std::move(*value), ParamOrigin::plan};
}

Result<Params::Impl::Start> Params::Impl::start_value(const ParamInfo& info, const Check& check) {
  auto planned = planned_value(info, check);
  const auto saved = saved_.find(info.name);
  if (!planned || saved == saved_.end() || info.read_only) return planned;
  auto value = params::read(type_of(info.standard), saved->second);
  const std::string why = value ? problem_of(info, check, *value) : value.error().message;
  if (!why.empty()) {
    log::warn("params", saved->second.source.to_string() + ": " + info.name + ": " + why +
                            ". The value of the plan is used instead");
    return planned;
  }
  const MutexLock lock(mutex_);
  unsaved_.insert_or_assign(info.name, std::move(planned->value));
  return Start{std::move(*value), ParamOrigin::restored};
}

Result<std::shared_ptr<detail::ParamCell>> Params::Impl::declare(ParamInfo info, Check check) {
  bool known = false;
  {
    const MutexLock lock(mutex_);
    known = plain_.erase(info.name) > 0;
  }
  return insert(std::move(info), std::move(check), known);
}

Result<std::shared_ptr<detail::ParamCell>> Params::Impl::insert(ParamInfo info, Check check,
                                                                bool known) {
  if (auto open = check_open(); !open) return open.error();
  serve_once();
  info.value = info.standard;
  if (std::string why = params::description_problem(info); !why.empty()) {
    return Error{Code::invalid_config, "parameter '" + info.name + "': " + why, owner_.node};
  }
  auto start = start_value(info, check);
  if (!start) return start.error();
  info.value = std::move(start->value);
  info.origin = start->origin;
  auto cell = known ? store_.describe(std::move(info), std::move(check))
                    : store_.declare(std::move(info), std::move(check));
  if (cell) changed();
  return cell;
}

void Params::Impl::serve_once() {
  std::function<Result<void>()> serve;
  {
    const MutexLock lock(mutex_);
    serve.swap(serve_);
  }
  if (!serve) return;
  if (auto served = serve(); !served) {
    log::error("params", "the parameters of node '" + owner_.node +
                             "' cannot be set by other nodes: " + served.error().to_string());
  }
}

Result<ParamVariant> Params::Impl::from_plan(const std::string& name, ParamVariant fallback) const {
  const ParamValue* planned = planned_.find(name);
  if (planned == nullptr) return fallback;
  return params::read(type_of(fallback), *planned);
}

Result<ParamVariant> Params::Impl::plain(const std::string& name, ParamVariant fallback) {
  const ParamSet now = values();
  if (const ParamInfo* info = now.find(name)) {
    auto value = params::convert(type_of(fallback), info->value);
    // Read as two types: the plan's text can be read as either.
    return value ? value : from_plan(name, std::move(fallback));
  }
  if (!params::name_problem(name).empty() || !check_open()) {
    return from_plan(name, std::move(fallback));
  }
  ParamInfo info;
  info.name = name;
  info.standard = fallback;
  info.read_only = true;  // the node reads it at its own times and would not notice a change
  auto declared = insert(info, {}, false);
  if (declared) {
    {
      const MutexLock lock(mutex_);
      plain_.insert(name);
    }
    return values().find(name)->value;
  }
  // Two threads at once, or an invalid parameter name: reading the plan works in both cases.
  return from_plan(name, std::move(fallback));
}

Result<void> Params::Impl::set(const std::vector<ParamAssignment>& values) {
  if (auto open = check_open(); !open) return open.error();
  auto set = store_.set(values, ParamOrigin::set);
  if (!set) return Error{set.error().code, set.error().message, owner_.node};
  changed();
  return success();
}

void Params::Impl::forget(const std::string& name) {
  {
    const MutexLock lock(mutex_);
    plain_.erase(name);
    unsaved_.erase(name);
  }
  if (store_.forget(name) && check_open()) changed();
}

Result<void> Params::Impl::add_check(params::Store::CrossCheck check) {
  auto added = store_.add_check(check);
  if (!added && give_up_restored(added.error().message)) added = store_.add_check(std::move(check));
  if (!added) return Error{added.error().code, added.error().message, owner_.node};
  return success();
}

bool Params::Impl::give_up_restored(const std::string& why) {
  std::vector<ParamAssignment> back;
  {
    const MutexLock lock(mutex_);
    for (const auto& info : values().infos()) {
      const auto found = unsaved_.find(info->name);
      if (info->origin == ParamOrigin::restored && found != unsaved_.end()) {
        back.push_back({info->name, found->second});
      }
    }
  }
  if (back.empty() || !store_.set(back, ParamOrigin::plan)) return false;
  log::warn("params", "node '" + owner_.node + "': the values set before its restart are invalid " +
                          "together (" + why + "). The values of the plan are used instead");
  changed();
  return true;
}

ParamWatch Params::Impl::watch(std::string name, std::function<void(const ParamSet&)> callback) {
  return ParamWatch(store_.watchers().add(std::move(name), std::move(callback)));
}

std::vector<std::string> Params::Impl::undeclared(const ParamSet& now) const {
  std::vector<std::string> names;
  {
    const MutexLock lock(mutex_);
    if (!done_) return names;
  }
  for (const auto& [name, value] : params::leaves_of(planned_)) {
    if (now.find(name) == nullptr && names.size() < kMaxParams) names.push_back(name);
  }
  return names;
}

void Params::Impl::done() {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(done_, true)) return;
  }
  const ParamSet now = values();
  const std::vector<std::string> names = undeclared(now);
  if (names.empty() || !check_open()) return;
  const std::string place =
      planned_.find(names.front())->source.to_string() + ": nodes." + owner_.node + ".params";
  if (names.size() == 1) {
    log::warn("params", place + "." + names.front() + ": the node has no such parameter" +
                            now.suggestion(names.front()));
  } else {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    log::warn("params", place + ": the node has none of these " + std::to_string(names.size()) +
                            " parameters: " + list + ". `hyphos param list " + owner_.node +
                            "` shows its parameters");
  }
  {
    const MutexLock lock(announce_mutex_);
    published_version_ = 0;  // the list is new, although no value is
  }
  changed();
}

void Params::Impl::changed() {
  if (announcing_.exchange(true)) return;
  pool_->run([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->announce();
  });
}

std::string Params::Impl::announce() {
  announcing_.store(false);
  const MutexLock lock(announce_mutex_);
  const ParamSet now = values();
  std::string warning = save(now);
  if (now.version() != published_version_) publish(now);
  return warning;
}

std::string Params::Impl::save(const ParamSet& now) {
  if (files_.run.empty() && files_.keep.empty()) return {};
  std::vector<ParamLine> lines;
  // Saved values that are undeclared, or no longer valid, must not be lost.
  for (const auto& [name, value] : saved_) {
    if (now.find(name) == nullptr) {
      lines.push_back({owner_.node, name, plan::flow_yaml(value), "", ""});
    }
  }
  for (const auto& info : now.infos()) {
    if (info->origin == ParamOrigin::set || info->origin == ParamOrigin::restored) {
      lines.push_back({owner_.node, info->name, to_yaml(info->value), "", ""});
    }
  }
  if (lines.empty() && saved_.empty() && saved_text_.empty()) return {};
  const std::string text =
      params_text(std::move(lines), "Set while node " + owner_.node +
                                        " ran. Remove this file to go back to the plan.");
  if (text == saved_text_) return save_problem_;
  saved_text_ = text;
  save_problem_.clear();
  for (const auto& [file, durable] : {std::pair(files_.run, false), std::pair(files_.keep, true)}) {
    if (file.empty()) continue;
    if (auto written = params::write_file(file, text, durable); !written) {
      save_problem_ = "the values are set, but not saved: " + written.error().to_string();
      saved_text_.clear();  // retry with the next change
      log::error("params", save_problem_);
    }
  }
  return save_problem_;
}

params::v1::NodeParams Params::Impl::message(const ParamSet& now) const {
  return params::encode(owner_, now, undeclared(now));
}

void Params::Impl::publish(const ParamSet& now) {
  // close() first shuts the pool and then waits for announce_mutex_, so the graph outlives this
  // call.
  graph::Graph* graph = pool_->graph();
  if (graph == nullptr) return;
  if (!publisher_) {
    auto made =
        graph->publisher(params::channel_of(owner_.node), type_support<params::v1::NodeParams>(),
                         params::state_policy(), Scope::network, owner_.node);
    if (!made) {
      log::error("params", "node '" + owner_.node +
                               "' cannot publish its parameters: " + made.error().to_string());
      return;
    }
    publisher_ = std::move(*made);
  }
  published_version_ = now.version();
  Publisher<params::v1::NodeParams>(publisher_).publish(message(now));
}

params::v1::SetParamsReply Params::Impl::answer(const params::v1::SetParams& request) {
  params::v1::SetParamsReply reply;
  Result<void> done = success();
  if (auto values = params::decode(request)) {
    done = set(*values);
  } else {
    done = values.error();
  }
  if (done) {
    reply.set_warning(announce());
  } else {
    reply.set_code(std::string(to_string(done.error().code)));
    reply.set_message(done.error().message);
  }
  *reply.mutable_now() = message(values());
  return reply;
}

void Params::Impl::close() {
  announce();  // saves and publishes the last changes
  if (!pool_->shut()) return;
  store_.close();
  const MutexLock lock(announce_mutex_);
  publisher_.reset();
}

}  // namespace hyphos
