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

/// Where a parameter's value can be read while it is being replaced, without a lock.
///
/// Numbers and truth values are one atomic word. Everything else is read through a version that the
/// reader pins. Invariants: (1) a version's value changes only while its `pins` carry kClaimed,
/// which a writer gets only from 0; (2) a reader uses a version only if it was still the current
/// one after it had been pinned; (3) versions are never freed before the cell, so that pinning an
/// old one by mistake is harmless. There are as many versions as readers ever held at once, plus
/// two. One writer at a time.
class HYPHOS_EXPORT ParamCell {
 public:
  struct Version {
    std::atomic<std::uint32_t> pins{0};
    ParamVariant value;
    Version* next = nullptr;  // all versions of the cell
  };

  /// `choices`: what the word means if the value is text that is one of them: its index.
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

/// What a node says about a parameter when it declares it:
///
///     {.value = 0.5, .unit = "m/s", .description = "how fast it drives", .range = {0, 2}}
template <typename T>
struct ParamSpec {
  T value{};  ///< the default
  std::string unit = {};
  std::string description = {};
  /// For numbers and lists of them.
  typename detail::ParamSpecParts<T>::Range range = {};
  /// For text and lists of it: what it may be. For an enum: the name of each value, all of them.
  typename detail::ParamSpecParts<T>::Choices choices = {};
  bool read_only = false;  ///< what the plan says holds; refuses to be set at run time
  /// Called with a value before it holds: "", or why it is refused. Under no lock; in the thread
  /// that sets. What leaves it as an exception is a refusal, too.
  std::function<std::string(const T&)> check = {};
};

/// A value that is not a single word, held as it was when it was read. Short-lived: drop it at the
/// end of the callback, and before the Param it came from.
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
  operator const T&() const { return *value_; }  // NOLINT: it is the value, wherever one is wanted
  template <typename U>
  friend bool operator==(const ParamView& a, const U& b) {
    return a.get() == b;
  }

 private:
  detail::ParamCell::Version* version_;
  const T* value_;
};

/// A call that comes after a change. The node owns it; dropping the handle changes nothing.
class HYPHOS_EXPORT ParamWatch {
 public:
  class Impl;
  ParamWatch() = default;
  explicit ParamWatch(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  /// On return the callback is not running, unless called from inside it, and never runs again.
  void close() const;
  /// Changes that came while the callback was busy and were told together with a later one.
  [[nodiscard]] std::uint64_t merged() const;

 private:
  std::shared_ptr<Impl> impl_;
};

template <typename T>
class Param;

/// The parameters of one node. Cheap to copy; thread-safe.
///
/// A value comes from the first of these that has one: what was set before a restart, the plan
/// (`nodes.<name>.params`), the default. From then on the node, any process and `hyphos param set`
/// may change it. A change is checked (type, range, choices, `check` of each parameter, then the
/// checks across several) and holds as a whole or not at all; the error says why, and the old
/// values stay. Setting runs checks in the calling thread, takes a lock for some hundred
/// nanoseconds, allocates, and never waits for watchers: these run on the thread pool. What is set
/// is published to all who look (docs/params.md).
class HYPHOS_EXPORT Params {
 public:
  /// Start-up code: throws invalid_config (a wrong name or description, or a value in the plan that
  /// does not fit, with file and line), already_exists, or exhausted (kMaxParams).
  template <typename T>
  Param<T> declare(const std::string& name, ParamSpec<std::type_identity_t<T>> spec = {}) const;

  /// Sets one or several, all or none. Errors: not_found, type_mismatch, invalid_config (refused;
  /// the message says why, for all that were refused), overloaded.
  Result<void> set(std::vector<ParamAssignment> values) const;
  template <typename T>
  Result<void> set(const std::string& name, const T& value) const {
    return set({{name, detail::ParamTraits<T>::store(value)}});
  }
  Result<void> set(const std::string& name, const char* value) const {
    return set({{name, std::string(value)}});
  }

  /// Takes a parameter away, if there is one of that name: for a node that shows what others have.
  /// Handles to it keep its last value and can set it no more.
  void forget(const std::string& name) const;

  /// All values at one instant. Takes a lock, briefly.
  [[nodiscard]] ParamSet values() const;

  /// A check across parameters: `check` gets all values as they would be, and says "" or why not.
  /// It is called at once as well, and throws invalid_config if the values now are refused. It may
  /// read, but not set, parameters of this node.
  void check(std::function<std::string(const ParamSet&)> check) const;

  /// Calls `callback` on the thread pool after a change, one call at a time. ParamSet::changed()
  /// says what changed. If changes come faster than calls end, they are told together.
  ParamWatch watch(std::function<void(const ParamSet&)> callback) const;
  /// The same for one parameter.
  ParamWatch watch(const std::string& name, std::function<void(const ParamSet&)> callback) const;

  /// The node has declared all it will: warns of values in the plan that it has not declared,
  /// naming what may have been meant. Done by itself when a plug-in has been made and by spin().
  void done() const;

  /// declare() for types that are known only when the program runs (Python): `info.standard` is the
  /// default and gives the type; value and origin are not looked at.
  using Check = std::function<std::string(const ParamVariant&)>;
  [[nodiscard]] std::shared_ptr<detail::ParamCell> declare_any(ParamInfo info, Check check) const;

  class Impl;
  Params() = default;
  explicit Params(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

/// A declared parameter: a handle to read it in callbacks, from any thread.
///
/// `*speed` of a number, a truth value or an enum is one atomic load; of text, bytes or a list it
/// is a ParamView, which costs two atomic loads and two increments and copies nothing. Neither
/// takes a lock nor allocates. Cheap to copy; keeps the value readable after the node is gone.
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
  /// As Params::watch(); `callback` gets the value that holds when it is called.
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
    return std::string();  // not among the choices: set() will say so
  }

  Params params_;
  std::shared_ptr<detail::ParamCell> cell_;
  std::shared_ptr<const std::vector<T>> values_;  // of an enum, in the order of its choices
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
                       "the default is none of the choices; name every value of the enum", name});
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
    return Param<T>(*this, declare_any(std::move(info), std::move(check)), std::move(values));
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
    return Param<T>(*this, declare_any(std::move(info), std::move(check)));
  }
}

}  // namespace hyphos
