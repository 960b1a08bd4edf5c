#pragma once

#include <atomic>
#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hyphos/param_types.hpp"

namespace hyphos {

namespace detail {

/// Storage of a parameter's value, readable without a lock while it is being replaced.
///
/// Numbers and booleans are one atomic word. All other values are read through a version that the
/// reader pins. Invariants: (1) a version's value changes only while its `pins` carry kClaimed,
/// which a writer gets only from 0. (2) A reader uses a version only if it was still the current
/// one after it had been pinned. (3) Versions are never freed before the cell, so that pinning an
/// old one by mistake is harmless. The number of versions is the largest number of versions that
/// readers ever pinned at once, plus two. Only one writer at a time.
class HYPHOS_EXPORT ParamCell {
 public:
  struct Version {
    std::atomic<std::uint32_t> pins{0};
    ParamVariant value;
    Version* next = nullptr;  // list of all versions of the cell
  };

  /// `choices`: if the value is text and one of the choices, the word is its index.
  ParamCell(std::string name, ParamVariant value, std::vector<std::string> choices = {});
  ParamCell(const ParamCell&) = delete;
  ParamCell& operator=(const ParamCell&) = delete;
  ~ParamCell();

  void assign(const ParamVariant& value);
  [[nodiscard]] std::uint64_t word() const { return word_.load(std::memory_order_acquire); }
  [[nodiscard]] Version& pin() const {
    while (true) {
      Version* version = current_.load();
      version->pins.fetch_add(1);
      if (version == current_.load()) return *version;
      unpin(*version);
    }
  }
  static void unpin(Version& version) { version.pins.fetch_sub(1); }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  static constexpr std::uint32_t kClaimed = 1U << 31U;
  [[nodiscard]] std::uint64_t to_word(const ParamVariant& value) const;
  Version* claim();

  const std::string name_;
  const std::vector<std::string> choices_;
  std::atomic<std::uint64_t> word_{0};
  std::atomic<Version*> current_{nullptr};
  Version* all_ = nullptr;
};

struct ParamNoRange {};
struct ParamNoChoices {};

template <typename T>
struct ParamItem {
  using Type = T;
};
template <typename T>
struct ParamItem<std::vector<T>> {
  using Type = T;
};

template <typename T>
struct ParamSpecParts {
  using Item = typename ParamItem<T>::Type;
  using Range = std::conditional_t<std::is_arithmetic_v<Item> && !std::is_same_v<Item, bool>,
                                   ParamRange<Item>, ParamNoRange>;
  using Choices = std::conditional_t<ParamEnum<T> && !std::is_same_v<T, std::byte>,
                                     std::vector<std::pair<std::string, T>>,
                                     std::conditional_t<std::is_same_v<Item, std::string>,
                                                        std::vector<std::string>, ParamNoChoices>>;
};

}  // namespace detail

/// The declaration of a parameter:
///
///     {.value = 0.5, .unit = "m/s", .description = "how fast it drives", .range = {0, 2}}
template <typename T>
struct ParamSpec {
  T value{};  ///< the default
  std::string unit = {};
  std::string description = {};
  /// For numbers and lists of numbers.
  typename detail::ParamSpecParts<T>::Range range = {};
  /// For text and lists of texts: the valid values. For an enum: the name of each value, all of
  /// them.
  typename detail::ParamSpecParts<T>::Choices choices = {};
  bool read_only = false;  ///< fixed at the plan's value, setting it at run time fails
  /// Called with a new value before it takes effect. Returns "" to accept it, or the reason to
  /// refuse it. Runs in the thread that sets, under no lock. An exception is also a refusal.
  std::function<std::string(const T&)> check = {};
};

/// A snapshot of a value that is not a single word. Short-lived: destroy it at the end of the
/// callback, and before its Param.
template <typename T>
class ParamView {
 public:
  explicit ParamView(const detail::ParamCell& cell)
      : version_(&cell.pin()), value_(std::get_if<T>(&version_->value)) {}
  ParamView(const ParamView&) = delete;
  ParamView& operator=(const ParamView&) = delete;
  ~ParamView() { detail::ParamCell::unpin(*version_); }

  [[nodiscard]] const T& get() const { return *value_; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_; }
  operator const T&() const { return *value_; }  // NOLINT: implicit conversion to the value
  template <typename U>
  friend bool operator==(const ParamView& a, const U& b) {
    return a.get() == b;
  }

 private:
  detail::ParamCell::Version* version_;
  const T* value_;
};

/// A callback after a change. The node owns it, so dropping the handle does not end it.
class HYPHOS_EXPORT ParamWatch {
 public:
  class Impl;
  ParamWatch() = default;
  explicit ParamWatch(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  /// On return the callback is not running, unless the callback itself called close(), and it never
  /// runs again.
  void close() const;
  /// Number of changes that came while the callback was busy and were merged with a later one.
  [[nodiscard]] std::uint64_t merged() const;

 private:
  std::shared_ptr<Impl> impl_;
};

template <typename T>
class Param;

/// A declared parameter whose type is known only at run time, as Param for a type known at compile
/// time. Cheap to copy and thread-safe. The value remains readable after the node is gone.
class AnyParam {
 public:
  AnyParam() = default;
  AnyParam(std::shared_ptr<detail::ParamCell> cell, ParamType type)
      : cell_(std::move(cell)), type_(type) {}

  [[nodiscard]] ParamType type() const { return type_; }
  [[nodiscard]] const std::string& name() const { return cell_->name(); }
  /// Returns `reader(const ParamVariant&)` of the present value, which is valid during the call
  /// only. Takes no lock and copies no text, bytes or list. A number or a boolean costs one atomic
  /// load.
  template <typename F>
  auto read(F reader) const {
    const std::uint64_t word = cell_->word();
    switch (type_) {
      case ParamType::boolean:
        return reader(ParamVariant(word != 0));
      case ParamType::integer:
        return reader(ParamVariant(std::bit_cast<std::int64_t>(word)));
      case ParamType::real:
        return reader(ParamVariant(std::bit_cast<double>(word)));
      default:
        break;
    }
    const std::unique_ptr<detail::ParamCell::Version, Unpin> version(&cell_->pin());
    return reader(std::as_const(version->value));
  }
  /// A copy of the value.
  [[nodiscard]] ParamVariant get() const {
    return read([](const ParamVariant& value) { return value; });
  }

 private:
  struct Unpin {
    void operator()(detail::ParamCell::Version* version) const {
      detail::ParamCell::unpin(*version);
    }
  };
  std::shared_ptr<detail::ParamCell> cell_;
  ParamType type_ = ParamType::boolean;
};

/// The parameters of one node. Cheap to copy and thread-safe.
///
/// The first of these sources gives the initial value: a value set before a restart, the plan
/// (`nodes.<name>.params`), the default. Afterwards the node, any process and `hyphos param set`
/// may change it. A change is checked: type, range, choices, `check` of each parameter, then the
/// checks across several parameters. It takes effect as a whole or not at all. The error gives the
/// reason, and the old values remain.
///
/// Setting runs the checks in the calling thread, takes a lock for some hundred nanoseconds and
/// allocates. It never waits for watches, which run on the thread pool. The new values are
/// published to all observers (docs/how-to/params.md).
class HYPHOS_EXPORT Params {
 public:
  /// Start-up code: throws invalid_config (invalid name or description, or an unsuitable value in
  /// the plan, with file and line), already_exists, or exhausted (kMaxParams).
  template <typename T>
  Param<T> declare(const std::string& name, ParamSpec<std::type_identity_t<T>> spec = {}) const;

  /// Sets one or several parameters, all or none. Errors: not_found, type_mismatch, invalid_config
  /// (refused, with the reason for each refused value), permission (read-only), exhausted
  /// (kMaxParamSetBytes), overloaded (other threads set all the time), disconnected (the node is
  /// closed).
  Result<void> set(std::vector<ParamAssignment> values) const;
  template <typename T>
  Result<void> set(const std::string& name, const T& value) const {
    return set({{name, detail::ParamTraits<T>::store(value)}});
  }
  Result<void> set(const std::string& name, const char* value) const {
    return set({{name, std::string(value)}});
  }

  /// Removes a parameter, if there is one of that name. For a node that mirrors parameters of
  /// others. Handles to it keep its last value and can no longer set it.
  void forget(const std::string& name) const;

  /// All values at one instant. Takes a lock briefly.
  [[nodiscard]] ParamSet values() const;

  /// Adds a check across parameters. `check` gets all values as they would be after the change, and
  /// returns "" or the reason for a refusal. It is also called immediately, and check() throws
  /// invalid_config if it refuses the present values. It may read, but not set, parameters of this
  /// node.
  void check(std::function<std::string(const ParamSet&)> check) const;

  /// Calls `callback` on the thread pool after a change, one call at a time. ParamSet::changed()
  /// lists the changed parameters. Changes that come faster than calls end are merged.
  ParamWatch watch(std::function<void(const ParamSet&)> callback) const;
  /// The same for one parameter.
  ParamWatch watch(const std::string& name, std::function<void(const ParamSet&)> callback) const;

  /// Declares that the node has no further parameters. Warns of values in the plan that are not
  /// declared, with similar names as suggestions. Called automatically by spin() and when a plug-in
  /// has been constructed.
  void done() const;

  /// declare() for types known only at run time (Python). `info.standard` is the default and gives
  /// the type. Value and origin are ignored.
  using Check = std::function<std::string(const ParamVariant&)>;
  AnyParam declare_any(ParamInfo info, Check check) const;

  class Impl;
  Params() = default;
  explicit Params(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  [[nodiscard]] std::shared_ptr<detail::ParamCell> declare_cell(ParamInfo info, Check check) const;

  std::shared_ptr<Impl> impl_;
};

/// A declared parameter: a handle for reading it in callbacks, from any thread.
///
/// For a number, a boolean or an enum, `*speed` is one atomic load. For text, bytes or a list it is
/// a ParamView, which costs two atomic loads and two atomic increments and copies nothing. Neither
/// takes a lock nor allocates. Cheap to copy. The value remains readable after the node is gone.
template <typename T>
class Param {
 public:
  Param() = default;
  Param(Params params, std::shared_ptr<detail::ParamCell> cell,
        std::shared_ptr<const std::vector<T>> values = {})
      : params_(std::move(params)), cell_(std::move(cell)), values_(std::move(values)) {}

  [[nodiscard]] auto operator*() const {
    if constexpr (detail::ParamEnum<T>) {
      return (*values_)[cell_->word()];
    } else if constexpr (detail::ParamScalar<T>) {
      return scalar();
    } else {
      return ParamView<T>(*cell_);
    }
  }
  ParamView<T> operator->() const
    requires(!detail::ParamScalar<T> && !detail::ParamEnum<T>)
  {
    return ParamView<T>(*cell_);
  }
  /// A copy of the value.
  [[nodiscard]] T get() const { return **this; }
  [[nodiscard]] const std::string& name() const { return cell_->name(); }

  /// As Params::set().
  Result<void> set(const T& value) const {
    if constexpr (detail::ParamEnum<T>) {
      return params_.set({{name(), named(value)}});
    } else {
      return params_.set({{name(), detail::ParamTraits<T>::store(value)}});
    }
  }
  /// As Params::watch(). `callback` gets the value at the time of the call.
  template <typename F>
    requires std::invocable<F&, const T&>
  ParamWatch watch(F callback) const {
    return params_.watch(name(), [cell = cell_, values = values_, f = std::move(callback)](
                                     const ParamSet&) mutable { f(Param(cell, values).get()); });
  }

 private:
  Param(std::shared_ptr<detail::ParamCell> cell, std::shared_ptr<const std::vector<T>> values)
      : cell_(std::move(cell)), values_(std::move(values)) {}

  [[nodiscard]] T scalar() const {
    const std::uint64_t word = cell_->word();
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(std::bit_cast<double>(word));
    } else {
      return static_cast<T>(std::bit_cast<std::int64_t>(word));
    }
  }
  [[nodiscard]] ParamVariant named(const T& value) const {
    const ParamSet now = params_.values();
    const ParamInfo* info = now.find(name());
    for (std::size_t i = 0; info != nullptr && i < values_->size(); ++i) {
      if ((*values_)[i] == value) return info->choices[i];
    }
    return std::string();  // not among the choices: set() refuses it
  }

  Params params_;
  std::shared_ptr<detail::ParamCell> cell_;
  std::shared_ptr<const std::vector<T>> values_;  // values of an enum, in the order of its choices
};

template <typename T>
Param<T> Params::declare(const std::string& name, ParamSpec<std::type_identity_t<T>> spec) const {
  ParamInfo info;
  info.name = name;
  info.unit = std::move(spec.unit);
  info.description = std::move(spec.description);
  info.read_only = spec.read_only;
  using Parts = detail::ParamSpecParts<T>;
  if constexpr (detail::ParamEnum<T>) {
    auto values = std::make_shared<std::vector<T>>();
    std::string standard;
    for (auto& [word, value] : spec.choices) {
      if (value == spec.value) standard = word;
      info.choices.push_back(word);
      values->push_back(value);
    }
    if (standard.empty()) {
      throw Exception({Code::invalid_config,
                       "the default is none of the choices: name every value of the enum", name});
    }
    info.standard = std::move(standard);
    Check check;
    if (spec.check) {
      check = [f = std::move(spec.check), values, words = info.choices](const ParamVariant& v) {
        const auto* word = std::get_if<std::string>(&v);
        for (std::size_t i = 0; i < words.size(); ++i) {
          if (word != nullptr && *word == words[i]) return f((*values)[i]);
        }
        return std::string("not one of the choices");
      };
    }
    return Param<T>(*this, declare_cell(std::move(info), std::move(check)), std::move(values));
  } else {
    using Traits = detail::ParamTraits<T>;
    info.standard = Traits::store(spec.value);
    if constexpr (!std::is_same_v<typename Parts::Range, detail::ParamNoRange>) {
      using Wide =
          std::conditional_t<std::is_floating_point_v<typename Parts::Item>, double, std::int64_t>;
      const bool narrow = std::is_integral_v<typename Parts::Item> &&
                          sizeof(typename Parts::Item) < sizeof(std::int64_t);
      if (narrow || spec.range.bounded()) {
        info.range = ParamRange<Wide>{static_cast<Wide>(spec.range.least),
                                      static_cast<Wide>(spec.range.most),
                                      static_cast<Wide>(spec.range.step)};
      }
    }
    if constexpr (!std::is_same_v<typename Parts::Choices, detail::ParamNoChoices>) {
      info.choices = std::move(spec.choices);
    }
    Check check;
    if (spec.check) {
      check = [f = std::move(spec.check)](const ParamVariant& value) {
        return f(Traits::load(std::get<typename Traits::Stored>(value)));
      };
    }
    return Param<T>(*this, declare_cell(std::move(info), std::move(check)));
  }
}

}  // namespace hyphos
