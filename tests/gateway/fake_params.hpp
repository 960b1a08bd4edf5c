#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/facade/parameters.hpp"
#include "tests/gateway/fake_pool.hpp"

namespace hyphos::gateway {

/// In-memory nodes with parameters, for protocol tests. Thread-safe.
class FakeParams {
 public:
  /// Returns why a node refuses a value, or "".
  using Check = std::function<std::string(const ParamVariant&)>;

  explicit FakeParams(FakePool& pool) : pool_(pool) {}

  /// A node declares a parameter or changes its value itself.
  void put(const std::string& node, const std::string& name, ParamVariant value) {
    const std::lock_guard lock(mutex_);
    nodes_[node][name] = std::move(value);
    tell();
  }
  void describe(const std::string& node, const std::string& name, const std::string& description) {
    const std::lock_guard lock(mutex_);
    descriptions_[node + "." + name] = description;
  }
  void check(const std::string& node, Check check) {
    const std::lock_guard lock(mutex_);
    checks_[node] = std::move(check);
  }
  /// Ends a node.
  void end(const std::string& node) {
    const std::lock_guard lock(mutex_);
    nodes_.erase(node);
  }
  [[nodiscard]] std::optional<ParamVariant> value(const std::string& node,
                                                  const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(node);
    if (found == nodes_.end() || !found->second.contains(name)) return std::nullopt;
    return found->second.at(name);
  }
  /// How often a set() call reached a node.
  [[nodiscard]] std::size_t asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  /// The value that the gateway shows, and a change of it by the robot.
  [[nodiscard]] std::optional<ParamVariant> shown(const std::string& name) const {
    return value(kOwn, name);
  }
  [[nodiscard]] std::string described(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = descriptions_.find(std::string(kOwn) + "." + name);
    return found == descriptions_.end() ? std::string() : found->second;
  }
  void change_shown(const std::string& name, ParamVariant value) {
    put(kOwn, name, std::move(value));
  }

  /// The tree that all nodes share, and a change of it by the robot.
  [[nodiscard]] ParamValue shared() const {
    const std::lock_guard lock(mutex_);
    return shared_;
  }
  void share(const std::string& path, const ParamValue& value) {
    const std::lock_guard lock(mutex_);
    put_shared(path, value);
    tell();
  }
  void remove_shared(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const std::size_t dot = path.rfind('.');
    ParamValue& parent = dot == std::string::npos ? shared_ : at(path.substr(0, dot));
    std::erase_if(parent.entries, [&](const ParamEntry& entry) {
      return entry.key == (dot == std::string::npos ? path : path.substr(dot + 1));
    });
    tell();
  }

  std::unique_ptr<NodeParams> open(std::function<void()> changed) {
    const std::lock_guard lock(mutex_);
    told_ = std::make_shared<Told>();
    told_->changed = std::move(changed);
    return std::make_unique<Handle>(*this, told_);
  }

 private:
  static constexpr const char* kOwn = "gateway";
  using Values = std::map<std::string, ParamVariant>;

  /// The receiver of notifications. Posted tasks hold it, and the handle clears it at its end.
  struct Told {
    void tell(const std::function<void()>& what) {
      const std::lock_guard lock(mutex);
      if (changed) what();
    }
    std::mutex mutex;
    std::function<void()> changed;
  };

  class Handle final : public NodeParams {
   public:
    Handle(FakeParams& all, std::shared_ptr<Told> told) : all_(all), told_(std::move(told)) {}
    ~Handle() override {
      {
        const std::lock_guard lock(told_->mutex);
        told_->changed = nullptr;
      }
      const std::lock_guard lock(all_.mutex_);
      all_.nodes_.erase(kOwn);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    [[nodiscard]] std::string node() const override { return kOwn; }
    void look() override {}
    [[nodiscard]] Sets all() const override {
      const std::lock_guard lock(all_.mutex_);
      Sets sets;
      for (const auto& [node, values] : all_.nodes_) {
        if (node != kOwn) sets.emplace(node, all_.set_of(node, values));
      }
      return sets;
    }
    void set(const std::string& node, const std::string& name, ParamVariant value,
             Done done) override {
      const std::lock_guard lock(all_.mutex_);
      ++all_.asked_;
      const auto outcome = all_.set(node, name, std::move(value));
      all_.pool_.post(
          [told = told_, done = std::move(done), outcome] { told->tell([&] { done(outcome); }); });
      all_.tell();
    }
    [[nodiscard]] ParamSet own() const override {
      const std::lock_guard lock(all_.mutex_);
      const auto found = all_.nodes_.find(kOwn);
      return found == all_.nodes_.end() ? ParamSet() : all_.set_of(kOwn, found->second);
    }
    std::map<std::string, std::string> show(const std::vector<ShownParam>& values) override {
      const std::lock_guard lock(all_.mutex_);
      Values& before = all_.nodes_[kOwn];
      Values shown;
      std::map<std::string, std::string> left_out;
      for (const ShownParam& value : values) {
        const auto known = before.find(value.name);
        if (!value.is_news && known != before.end()) {
          shown.insert(*known);
        } else if (value.name.find(' ') != std::string::npos) {
          left_out.emplace(value.name, "not a parameter name");
        } else {
          shown.emplace(value.name, value.value);
          all_.descriptions_[std::string(kOwn) + "." + value.name] = value.description;
        }
      }
      before = std::move(shown);
      return left_out;
    }
    [[nodiscard]] std::shared_ptr<const ParamValue> shared() const override {
      return std::make_shared<const ParamValue>(all_.shared());
    }
    Result<void> set_shared(const std::string& path, const ParamValue& value) override {
      all_.share(path, value);
      return {};
    }
    Result<void> remove_shared(const std::string& path) override {
      all_.remove_shared(path);
      return {};
    }

   private:
    FakeParams& all_;
    const std::shared_ptr<Told> told_;
  };

  /// Requires mutex_.
  ParamSet set_of(const std::string& node, const Values& values) const {
    ParamSet::Infos infos;
    for (const auto& [name, value] : values) {
      ParamInfo info;
      info.name = name;
      info.value = value;
      info.standard = value;
      const auto about = descriptions_.find(node + "." + name);
      if (about != descriptions_.end()) info.description = about->second;
      infos.push_back(std::make_shared<const ParamInfo>(std::move(info)));
    }
    return {std::move(infos), 1, {}};
  }

  /// The value at a path, which may be new. Requires mutex_.
  ParamValue& at(const std::string& path) {
    ParamValue* now = &shared_;
    for (std::size_t from = 0; from <= path.size();) {
      const std::size_t dot = std::min(path.find('.', from), path.size());
      const std::string key = path.substr(from, dot - from);
      now->kind = ParamValue::Kind::map;
      auto found = std::find_if(now->entries.begin(), now->entries.end(),
                                [&](const ParamEntry& entry) { return entry.key == key; });
      if (found == now->entries.end()) found = now->entries.insert(found, {key, {}});
      now = &found->value;
      from = dot + 1;
    }
    return *now;
  }
  void put_shared(const std::string& path, const ParamValue& value) { at(path) = value; }

  /// Acts as a node does: the type stays, and an integer becomes a real. Requires mutex_.
  Result<void> set(const std::string& node, const std::string& name, ParamVariant value) {
    const auto found = nodes_.find(node);
    if (found == nodes_.end() || !found->second.contains(name)) {
      return Error{Code::not_found, "there is no parameter '" + name + "'", node};
    }
    ParamVariant& held = found->second.at(name);
    const auto* whole = std::get_if<std::int64_t>(&value);
    if (whole != nullptr && type_of(held) == ParamType::real) {
      value = static_cast<double>(*whole);
    }
    if (type_of(value) != type_of(held)) {
      return Error{Code::type_mismatch, name + ": the value has another type", node};
    }
    const auto check = checks_.find(node);
    const std::string why = check == checks_.end() ? "" : check->second(value);
    if (!why.empty()) return Error{Code::invalid_config, name + ": " + why, node};
    held = std::move(value);
    return {};
  }

  /// Requires mutex_.
  void tell() {
    if (told_) pool_.post([told = told_] { told->tell([&] { told->changed(); }); });
  }

  FakePool& pool_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, Values> nodes_;
  std::map<std::string, Check> checks_;
  std::map<std::string, std::string> descriptions_;  // by node and name
  ParamValue shared_;
  std::shared_ptr<Told> told_;
  std::size_t asked_ = 0;
};

/// The parameters of a FakeGraph.
class FakeParameters final : public Parameters {
 public:
  explicit FakeParameters(FakePool& pool) : nodes_(pool) {}

  /// The parameters of the robot nodes.
  [[nodiscard]] FakeParams& nodes() { return nodes_; }
  std::unique_ptr<NodeParams> open(std::function<void()> changed) override {
    return nodes_.open(std::move(changed));
  }

 private:
  FakeParams nodes_;
};

}  // namespace hyphos::gateway
