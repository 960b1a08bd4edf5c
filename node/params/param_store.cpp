#include "node/params/param_store.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "base/log.hpp"
#include "node/params/param_rules.hpp"

namespace hyphos {
namespace {

/// A check that itself changes parameters would never see the same set twice.
constexpr int kMaxTries = 64;

std::vector<std::string> merged_names(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b) {
  std::vector<std::string> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

}  // namespace

void ParamWatch::close() const {
  if (impl_) impl_->close();
}

std::uint64_t ParamWatch::merged() const { return impl_ ? impl_->merged() : 0; }

void ParamWatch::Impl::tell(const ParamSet& now) {
  if (!name_.empty() && !now.changed(name_)) return;
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    if (has_pending_) {
      // Two threads reported out of order: the newer values win, and the names of both remain.
      const ParamSet& newest = now.version() >= pending_.version() ? now : pending_;
      pending_ = newest.with_changed(merged_names(pending_.changed(), now.changed()));
      merged_.fetch_add(1, std::memory_order_relaxed);
    } else {
      pending_ = now;
      has_pending_ = true;
    }
    if (std::exchange(scheduled_, true)) return;
  }
  enqueue_([self = shared_from_this()] { self->run(); });
}

void ParamWatch::Impl::run() {
  ParamSet now;
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    now = std::exchange(pending_, ParamSet());
    has_pending_ = false;
    running_ = std::this_thread::get_id();
  }
  try {
    callback_(now);
  } catch (const std::exception& error) {
    log::error("params", std::string("a watch callback threw an exception: ") + error.what());
  } catch (...) {
    log::error("params", "a watch callback threw an unknown exception");
  }
  bool again = false;
  {
    const MutexLock lock(mutex_);
    running_ = {};
    again = has_pending_ && !closed_;
    scheduled_ = again;
    ended_.notify_all();
  }
  // As a new task, so that others get a turn.
  if (again) enqueue_([self = shared_from_this()] { self->run(); });
}

void ParamWatch::Impl::close() {
  UniqueLock lock(mutex_);
  closed_ = true;
  if (running_ == std::this_thread::get_id()) return;
  ended_.wait(lock, [this]() HYPHOS_REQUIRES(mutex_) { return running_ == std::thread::id(); });
}

namespace params {

std::shared_ptr<ParamWatch::Impl> Watchers::add(std::string name,
                                                ParamWatch::Impl::Callback callback) {
  auto made = std::make_shared<ParamWatch::Impl>(std::move(name), std::move(callback), enqueue_);
  const MutexLock lock(mutex_);
  if (closed_) {
    made->close();
  } else {
    all_.push_back(made);
  }
  return made;
}

void Watchers::tell(const ParamSet& now) {
  std::vector<std::shared_ptr<ParamWatch::Impl>> all;
  {
    const MutexLock lock(mutex_);
    all = all_;
  }
  for (const auto& one : all) one->tell(now);
}

void Watchers::close() {
  std::vector<std::shared_ptr<ParamWatch::Impl>> all;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    all.swap(all_);
  }
  for (const auto& one : all) one->close();
}

ParamSet Store::values() const {
  const MutexLock lock(mutex_);
  return now_;
}

Result<std::shared_ptr<detail::ParamCell>> Store::declare(ParamInfo info, Check check) {
  return insert(std::move(info), std::move(check), false);
}

Result<std::shared_ptr<detail::ParamCell>> Store::describe(ParamInfo info, Check check) {
  return insert(std::move(info), std::move(check), true);
}

Result<std::shared_ptr<detail::ParamCell>> Store::insert(ParamInfo info, Check check, bool known) {
  if (std::string why = description_problem(info); !why.empty()) {
    return Error{Code::invalid_config, "parameter '" + info.name + "': " + why, ""};
  }
  std::string why = value_problem(info, info.value);
  if (why.empty() && check) why = ask(check, info.value);
  if (!why.empty()) return Error{Code::invalid_config, info.name + ": " + why, ""};
  const std::size_t size = size_of(info);
  auto cell = std::make_shared<detail::ParamCell>(info.name, info.value, info.choices);
  const MutexLock lock(mutex_);
  const auto found = entries_.find(info.name);
  if (!known && found != entries_.end()) {
    return Error{Code::already_exists, "the parameter '" + info.name + "' is already declared", ""};
  }
  if (std::string other = nested_with(info.name); !other.empty()) {
    return Error{Code::already_exists,
                 "'" + info.name + "' and '" + other +
                     "' cannot both be parameters: one would be a map and a value in YAML",
                 ""};
  }
  if (found == entries_.end() && entries_.size() >= kMaxParams) {
    return Error{Code::exhausted,
                 "a node has at most " + std::to_string(kMaxParams) + " parameters", info.name};
  }
  if (bytes_ + size > kMaxParamSetBytes) {
    return Error{Code::exhausted,
                 "the parameters of a node take at most " + std::to_string(kMaxParamSetBytes) +
                     " bytes together",
                 info.name};
  }
  bytes_ += size;
  entries_.insert_or_assign(info.name, Entry{cell, std::move(check)});
  ParamSet::Infos infos = now_.infos();
  const auto before = [](const auto& one, const std::string& name) { return one->name < name; };
  const auto place = std::lower_bound(infos.begin(), infos.end(), info.name, before);
  if (place != infos.end() && (*place)->name == info.name) {
    *place = std::make_shared<const ParamInfo>(std::move(info));
  } else {
    infos.insert(place, std::make_shared<const ParamInfo>(std::move(info)));
  }
  now_ = ParamSet(std::move(infos), now_.version() + 1, {});
  return cell;
}

bool Store::forget(const std::string& name) {
  ParamSet now;
  {
    const MutexLock lock(mutex_);
    if (entries_.erase(name) == 0) return false;
    ParamSet::Infos infos = now_.infos();
    std::erase_if(infos, [&](const auto& info) { return info->name == name; });
    bytes_ = 0;
    for (const auto& info : infos) bytes_ += size_of(*info);
    now_ = ParamSet(std::move(infos), now_.version() + 1, {name});
    now = now_;
  }
  watchers_.tell(now);
  return true;
}

std::string Store::nested_with(const std::string& name) const {
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    if (entries_.count(name.substr(0, dot)) > 0) return name.substr(0, dot);
  }
  const auto below = entries_.lower_bound(name + ".");
  return below != entries_.end() && below->first.starts_with(name + ".") ? below->first : "";
}

std::string Store::problem_of(const ParamInfo& info, const ParamVariant& value) const {
  if (std::string why = value_problem(info, value); !why.empty()) return why;
  Check check;
  {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(info.name);
    if (found != entries_.end()) check = found->second.check;  // else it is being removed
  }
  return check ? ask(check, value) : std::string();
}

Result<Store::Plan> Store::work_out(const std::vector<ParamAssignment>& values,
                                    ParamOrigin origin) const {
  Plan plan;
  plan.base = this->values();
  ParamSet::Infos infos = plan.base.infos();
  std::vector<std::string> changed;
  std::string problems;
  Code code = Code::invalid_config;
  const auto refuse = [&](Code why, const std::string& text) {
    if (problems.empty()) code = why;
    problems += (problems.empty() ? "" : "; ") + text;
  };
  for (const ParamAssignment& one : values) {
    const auto same = [&](const ParamAssignment& other) { return other.name == one.name; };
    if (std::count_if(values.begin(), values.end(), same) > 1) {
      refuse(Code::invalid_config, one.name + ": is set twice in one request");
      continue;
    }
    const ParamInfo* info = plan.base.find(one.name);
    if (info == nullptr) {
      refuse(Code::not_found,
             "there is no parameter '" + one.name + "'" + plan.base.suggestion(one.name));
      continue;
    }
    auto value = convert(info->type(), one.value);
    if (!value) {
      refuse(value.error().code, one.name + ": " + value.error().message);
      continue;
    }
    const bool same_value = *value == info->value;
    if (same_value && (info->origin == origin || info->read_only)) continue;
    if (info->read_only) {
      refuse(Code::permission, one.name +
                                   ": is read-only. Set it in the plan or with --set, and "
                                   "restart the node");
      continue;
    }
    if (std::string why = problem_of(*info, *value); !why.empty()) {
      refuse(Code::invalid_config, one.name + ": " + why);
      continue;
    }
    const auto place = std::find_if(infos.begin(), infos.end(),
                                    [&](const auto& known) { return known->name == one.name; });
    auto next = std::make_shared<ParamInfo>(**place);
    next->value = std::move(*value);
    next->origin = origin;
    if (next->value != info->value) changed.push_back(one.name);
    plan.touched.push_back(one.name);
    *place = std::move(next);
  }
  if (!problems.empty()) return Error{code, std::move(problems), ""};
  for (auto* names : {&changed, &plan.touched}) {
    std::sort(names->begin(), names->end());
    names->erase(std::unique(names->begin(), names->end()), names->end());
  }
  plan.next = ParamSet(std::move(infos), plan.base.version() + 1, std::move(changed));
  return plan;
}

bool Store::commit(const Plan& plan) {
  {
    const MutexLock lock(mutex_);
    if (now_.version() != plan.base.version()) return false;
    for (const std::string& name : plan.next.changed()) {
      entries_.find(name)->second.cell->assign(plan.next.find(name)->value);
    }
    now_ = plan.next;
  }
  if (!plan.next.changed().empty()) watchers_.tell(plan.next);
  return true;
}

Result<void> Store::set(const std::vector<ParamAssignment>& values, ParamOrigin origin) {
  for (int i = 0; i < kMaxTries; ++i) {
    auto plan = work_out(values, origin);
    if (!plan) return plan.error();
    if (plan->touched.empty()) return success();
    std::size_t bytes = 0;
    for (const auto& info : plan->next.infos()) bytes += size_of(*info);
    if (bytes > kMaxParamSetBytes) {
      return Error{Code::exhausted,
                   "the parameters of a node take at most " + std::to_string(kMaxParamSetBytes) +
                       " bytes together, but would take " + std::to_string(bytes),
                   ""};
    }
    std::vector<CrossCheck> checks;
    {
      const MutexLock lock(mutex_);
      checks = checks_;
    }
    for (const CrossCheck& check : checks) {
      if (std::string why = ask(check, plan->next); !why.empty()) {
        return Error{Code::invalid_config, std::move(why), ""};
      }
    }
    if (commit(*plan)) return success();
  }
  return Error{Code::overloaded,
               "the parameters changed " + std::to_string(kMaxTries) +
                   " times while this change was checked. Does a check set parameters?",
               ""};
}

void Store::close() {
  std::vector<CrossCheck> checks;
  std::vector<Check> own;
  {
    const MutexLock lock(mutex_);
    checks.swap(checks_);
    for (auto& [name, entry] : entries_) own.push_back(std::exchange(entry.check, {}));
  }
  watchers_.close();
}

Result<void> Store::add_check(CrossCheck check) {
  if (std::string why = ask(check, values()); !why.empty()) {
    return Error{Code::invalid_config, std::move(why), ""};
  }
  const MutexLock lock(mutex_);
  checks_.push_back(std::move(check));
  return success();
}

}  // namespace params
}  // namespace hyphos
