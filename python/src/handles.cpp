#include "handles.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "hyphos/result.hpp"

namespace hyphos::python {
namespace {

std::atomic<bool> is_closing{false};
std::atomic<unsigned> generation{0};  // +1 in each forked child

// There is one module state per process. The set lives as long as the program, so that handles
// that Python frees late still find it.
struct Registry {
  Mutex mutex;
  std::set<HandleBase*> handles HYPHOS_GUARDED_BY(mutex);
};
std::atomic<Registry*> registry_now{new Registry()};
Registry& registry() { return *registry_now.load(); }

struct Spins {
  Mutex mutex;
  Condition ended;
  std::set<const Spinning*> all HYPHOS_GUARDED_BY(mutex);
};
std::atomic<Spins*> spins_now{new Spins()};
Spins& spins() { return *spins_now.load(); }

// References that were dropped while the interpreter was ending. A thread of the pool must not
// acquire the GIL then: Python would end the thread in the middle of a destructor.
struct Graveyard {
  Mutex mutex;
  Condition buried;
  bool open HYPHOS_GUARDED_BY(mutex) = false;
  std::size_t living HYPHOS_GUARDED_BY(mutex) = 0;  // callables that may still be dropped
  std::vector<PyObject*> functions HYPHOS_GUARDED_BY(mutex);
};
std::atomic<Graveyard*> graveyard_now{new Graveyard()};
Graveyard& graveyard() { return *graveyard_now.load(); }

// A forked child starts with new registries: a lock of the parent's may be held forever.
void begin_child() {
  generation.fetch_add(1);
  registry_now.store(new Registry());
  graveyard_now.store(new Graveyard());
  spins_now.store(new Spins());
  is_closing.store(false);
}

// spin() returns when its runtime stops. This waits at most one second for that.
void end_spins() {
  nb::gil_scoped_release release;
  Spins& now = spins();
  UniqueLock lock(now.mutex);
  for (const Spinning* spin : now.all) spin->stop();
  now.ended.wait_for(lock, std::chrono::seconds(1),
                     [&]() HYPHOS_REQUIRES(now.mutex) { return now.all.empty(); });
}

void drop_callable(PyObject* function, unsigned made_in) {
  if (made_in != generation.load()) return;
  {
    Graveyard& yard = graveyard();
    const MutexLock lock(yard.mutex);
    --yard.living;
    if (yard.open) {
      yard.functions.push_back(function);
      yard.buried.notify_all();
      return;
    }
  }
  nb::gil_scoped_acquire acquire;
  Py_DECREF(function);
}

// Called with the GIL held. Threads that just ran a callback get one second to drop it. Callables
// dropped later are not freed: the process is ending.
void empty_graveyard() {
  Graveyard& yard = graveyard();
  std::vector<PyObject*> functions;
  {
    nb::gil_scoped_release release;
    UniqueLock lock(yard.mutex);
    yard.buried.wait_for(lock, std::chrono::seconds(1),
                         [&]() HYPHOS_REQUIRES(yard.mutex) { return yard.living == 0; });
    functions.swap(yard.functions);
  }
  for (PyObject* function : functions) Py_DECREF(function);
}

}  // namespace

void watch_forks() { ::pthread_atfork(nullptr, nullptr, &begin_child); }

void throw_inherited() {
  throw Exception({Code::disconnected,
                   "this belongs to the parent process and cannot be used after fork(): open a "
                   "node in the child, or start the child with spawn",
                   ""});
}

void throw_closed() {
  throw Exception({Code::disconnected,
                   closing() ? "this has been closed: the interpreter is ending"
                             : "this has been closed: open another one",
                   ""});
}

Spinning::Spinning(std::function<void()> stop_it) : stop(std::move(stop_it)) {
  const MutexLock lock(spins().mutex);
  spins().all.insert(this);
  if (closing()) stop();
}

Spinning::~Spinning() {
  const MutexLock lock(spins().mutex);
  spins().all.erase(this);
  spins().ended.notify_all();
}

bool HandleBase::is_inherited() const { return generation_ != generation.load(); }

HandleBase::HandleBase() : generation_(generation.load()) {
  const MutexLock lock(registry().mutex);
  registry().handles.insert(this);
}

HandleBase::~HandleBase() {
  if (is_inherited()) return;
  const MutexLock lock(registry().mutex);
  registry().handles.erase(this);
}

void close_all_handles() {
  is_closing.store(true);
  {
    const MutexLock lock(graveyard().mutex);
    graveyard().open = true;
  }
  end_spins();
  std::vector<HandleBase*> all;
  {
    const MutexLock lock(registry().mutex);
    all.assign(registry().handles.begin(), registry().handles.end());
  }
  // The GIL is held between resets, so Python frees elements of `all` only inside a reset.
  for (HandleBase* handle : all) {
    {
      const MutexLock lock(registry().mutex);
      if (!registry().handles.contains(handle)) continue;
    }
    handle->reset();
  }
  empty_graveyard();
}

bool closing() { return is_closing.load(); }

namespace {

/// A `hyphos.Error` with the code disconnected that left a callback. At the end of the process it
/// is normal, so the runtime must recognise it.
class Disconnected final : public Exception {
 public:
  explicit Disconnected(std::string text)
      : Exception(Error{Code::disconnected, {}, {}}), text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  const std::string text_;
};

}  // namespace

Callable::Callable(nb::object function) {
  {
    const MutexLock lock(graveyard().mutex);
    ++graveyard().living;
  }
  function_ = std::shared_ptr<PyObject>(
      function.release().ptr(),
      [made_in = generation.load()](PyObject* dropped) { drop_callable(dropped, made_in); });
}

void Callable::rethrow(nb::python_error& error) {
  // The runtime logs the first line, and the traceback behind it, once a second at most.
  const nb::object described =
      nb::module_::import_("hyphos._errors").attr("describe_failure")(error.value());
  const std::string text = nb::cast<std::string>(described[0]);
  if (nb::cast<bool>(described[1])) throw Disconnected(text);
  throw std::runtime_error(text);
}

std::string Callable::reason(const nb::object& answer) {
  if (answer.is_none() || answer.ptr() == Py_True) return {};
  if (answer.ptr() == Py_False) return "the check returned False";
  return nb::str(answer).c_str();
}

std::string Callable::reason(nb::python_error& error) {
  const std::string text = nb::str(error.value()).c_str();
  return text.empty() ? nb::type_name(error.type()).c_str() : text;
}

}  // namespace hyphos::python
