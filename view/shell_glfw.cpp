#define GLFW_INCLUDE_NONE
#include <GL/glcorearb.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <dlfcn.h>
#include <imgui.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ends_on_signal.hpp"
#include "hyphos/time.hpp"
#include "view/options.hpp"
#include "view/report.hpp"
#include "view/settings.hpp"

namespace hyphos::view {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
/// Arrivals within this time are taken together, so that small messages do not wake the loop each.
constexpr std::int64_t kGather = 15 * kMillisecond;
constexpr double kLongest = 3600;  // s, of one wait
constexpr std::int64_t kTrimPeriod = 20'000 * kMillisecond;

struct InputEvent {
  enum class Kind : std::uint8_t { key, letter, button, scroll, focus, enter };
  Kind kind;
  int a = 0;
  int b = 0;
  int c = 0;
  int d = 0;
  double x = 0;
  double y = 0;
};

/// The state that callbacks of GLFW reach.
struct Window {
  GLFWwindow* handle = nullptr;
  App* app = nullptr;
  bool input = false;
  /// ImGui 1.86 has the state of each key at the begin of a frame, and no events. A tap that is
  /// shorter than a frame would be lost, so its two events go to two frames.
  std::deque<InputEvent> events;
  /// The place of the button event of this frame. A drag begins where the button went down, also if
  /// the pointer has moved on since then.
  std::optional<std::pair<double, double>> place;
  std::array<bool, 3> down{};  ///< buttons, by the events so far. GLFW has their present state
  std::pair<double, double> pointer{0, 0};  ///< of the last event
  std::pair<double, double> shown{0, 0};    ///< the place of the pointer in the last frame
  std::vector<std::string> dropped;

  void push(const InputEvent& event) {
    constexpr std::size_t kMost = 4'096;
    if (events.size() >= kMost) events.pop_front();
    events.push_back(event);
    input = true;
  }
};

/// Wakes the loop. `armed`: the loop waits for arrivals.
struct Waker {
  std::atomic<bool> arrived{false};
  std::atomic<bool> armed{false};

  void wake() {
    arrived.store(true);
    if (armed.exchange(false)) glfwPostEmptyEvent();
  }
};

std::string& last_glfw_error() {
  static std::string text;
  return text;
}

Window& window_of(GLFWwindow* handle) {
  return *static_cast<Window*>(glfwGetWindowUserPointer(handle));
}

void watch_input(GLFWwindow* handle) {
  using Kind = InputEvent::Kind;
  glfwSetKeyCallback(handle, [](GLFWwindow* w, int key, int code, int action, int mods) {
    window_of(w).push({Kind::key, key, code, action, mods});
  });
  glfwSetCharCallback(handle, [](GLFWwindow* w, unsigned letter) {
    window_of(w).push({Kind::letter, static_cast<int>(letter)});
  });
  glfwSetMouseButtonCallback(handle, [](GLFWwindow* w, int button, int action, int mods) {
    // glfwGetCursorPos() has the present place, and not that of the event.
    const auto& [x, y] = window_of(w).pointer;
    window_of(w).push({Kind::button, button, action, mods, 0, x, y});
  });
  glfwSetScrollCallback(handle, [](GLFWwindow* w, double x, double y) {
    window_of(w).push({Kind::scroll, 0, 0, 0, 0, x, y});
  });
  glfwSetWindowFocusCallback(
      handle, [](GLFWwindow* w, int focused) { window_of(w).push({Kind::focus, focused}); });
  glfwSetCursorEnterCallback(
      handle, [](GLFWwindow* w, int entered) { window_of(w).push({Kind::enter, entered}); });
  glfwSetCursorPosCallback(handle, [](GLFWwindow* w, double x, double y) {
    window_of(w).pointer = {x, y};
    window_of(w).input = true;
  });
  glfwSetFramebufferSizeCallback(handle,
                                 [](GLFWwindow* w, int, int) { window_of(w).input = true; });
  glfwSetWindowRefreshCallback(handle, [](GLFWwindow* w) { window_of(w).input = true; });
  glfwSetDropCallback(handle, [](GLFWwindow* w, int count, const char** paths) {
    window_of(w).dropped.assign(paths, paths + count);
    window_of(w).input = true;
  });
}

void dispatch(GLFWwindow* handle, const InputEvent& event) {
  switch (event.kind) {
    case InputEvent::Kind::key:
      return ImGui_ImplGlfw_KeyCallback(handle, event.a, event.b, event.c, event.d);
    case InputEvent::Kind::letter:
      return ImGui_ImplGlfw_CharCallback(handle, static_cast<unsigned>(event.a));
    case InputEvent::Kind::button:
      return ImGui_ImplGlfw_MouseButtonCallback(handle, event.a, event.b, event.c);
    case InputEvent::Kind::scroll:
      return ImGui_ImplGlfw_ScrollCallback(handle, event.x, event.y);
    case InputEvent::Kind::focus:
      return ImGui_ImplGlfw_WindowFocusCallback(handle, event.a);
    case InputEvent::Kind::enter:
      return ImGui_ImplGlfw_CursorEnterCallback(handle, event.a);
  }
}

/// Passes events to ImGui, at most one for each key or button.
void feed(Window& window, bool hidden) {
  constexpr int kButtons = 100'000;
  std::set<int> changed;
  window.place.reset();
  while (!window.events.empty()) {
    const InputEvent event = window.events.front();
    const bool key = event.kind == InputEvent::Kind::key;
    if (event.kind == InputEvent::Kind::button) {
      const std::pair at(event.x, event.y);
      if (window.place && *window.place != at) return;
      window.place = at;
      // The motion of a drag comes one frame before its end.
      if (!hidden && event.b == GLFW_RELEASE && window.shown != at) return;
    }
    if (key || event.kind == InputEvent::Kind::button) {
      if (!changed.insert(key ? event.a : kButtons + event.a).second) return;
    }
    window.events.pop_front();
    if (event.kind == InputEvent::Kind::button && event.a >= 0 && event.a < 3) {
      window.down.at(static_cast<std::size_t>(event.a)) = event.b != GLFW_RELEASE;
    }
    dispatch(window.handle, event);
  }
}

Error no_display() {
  return {Code::unsupported,
          "no display: " + last_glfw_error() +
              ". Run it in a desktop session, use `ssh -X`, or draw a picture with --png FILE",
          {}};
}

/// For the X server that has gone, as a handler of Xlib has no other state.
struct OnLostDisplay {
  App* app = nullptr;
  std::thread::id thread = {};  // of the view
};
OnLostDisplay& on_lost_display() {
  static OnLostDisplay state;
  return state;
}

/// Xlib ends the process when its handler returns, so that nothing else of it runs.
int lose_display(void* /*display*/) {
  std::fputs(
      "error: the X server has gone, and the window with it. Start it again in a desktop session, "
      "or draw a picture with --png FILE\n",
      stderr);
  // Another thread wakes the window in a callback of the source, which cannot end below it.
  const OnLostDisplay& state = on_lost_display();
  if (state.thread == std::this_thread::get_id() && state.app != nullptr) state.app->abandon();
  std::_Exit(1);
}

/// GLFW loads Xlib. On Wayland there is none.
void watch_display() {
  using Handler = int (*)(void*);
  using SetHandler = Handler (*)(Handler);
  const auto set = reinterpret_cast<SetHandler>(::dlsym(RTLD_DEFAULT, "XSetIOErrorHandler"));
  on_lost_display().thread = std::this_thread::get_id();
  if (set != nullptr) set(&lose_display);
}

Error no_opengl() {
  return {Code::unsupported,
          "no window with OpenGL 3.3: " + last_glfw_error() +
              ". Install libgl1-mesa-dri, try LIBGL_ALWAYS_SOFTWARE=1, or use --png FILE",
          {}};
}

class Glfw {
 public:
  Glfw() {
    glfwSetErrorCallback([](int, const char* text) { last_glfw_error() = text; });
    fine_ = glfwInit() == GLFW_TRUE;
  }
  ~Glfw() {
    if (handle_ != nullptr) glfwDestroyWindow(handle_);
    if (fine_) glfwTerminate();
  }
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;

  Result<GLFWwindow*> open(const Options& options) {
    if (!fine_) return no_display();
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "hyphos-view");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "hyphos-view");
    const UserSettings last = load_settings(settings_file());
    int width = options.width > 0 ? options.width : last.width;
    int height = options.height > 0 ? options.height : last.height;
    if (width == 0 || height == 0) {
      width = 1600;
      height = 900;
      int x = 0;
      int y = 0;
      int most_width = 0;
      int most_height = 0;
      if (GLFWmonitor* monitor = glfwGetPrimaryMonitor(); monitor != nullptr) {
        glfwGetMonitorWorkarea(monitor, &x, &y, &most_width, &most_height);
        if (most_width > 0) width = std::min(width, most_width);
        if (most_height > 0) height = std::min(height, most_height);
      }
    }
    handle_ = glfwCreateWindow(width, height, "Hyphos", nullptr, nullptr);
    if (handle_ == nullptr) return no_opengl();
    glfwMakeContextCurrent(handle_);
    glfwSwapInterval(1);
    return handle_;
  }

 private:
  bool fine_ = false;
  GLFWwindow* handle_ = nullptr;
};

/// ImGui with its backends.
class Gui {
 public:
  explicit Gui(GLFWwindow* handle) {
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    ImGui_ImplGlfw_InitForOpenGL(handle, false);  // feed() passes the events
    ImGui_ImplOpenGL3_Init("#version 330 core");
  }
  ~Gui() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
  }
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;
};

struct Gl {
  PFNGLVIEWPORTPROC viewport;
  PFNGLCLEARCOLORPROC clear_color;
  PFNGLCLEARPROC clear;

  static Gl load() {
    return {reinterpret_cast<PFNGLVIEWPORTPROC>(glfwGetProcAddress("glViewport")),
            reinterpret_cast<PFNGLCLEARCOLORPROC>(glfwGetProcAddress("glClearColor")),
            reinterpret_cast<PFNGLCLEARPROC>(glfwGetProcAddress("glClear"))};
  }
};

void draw(const Gl& gl, Window& window, std::int64_t now) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImVec2& pointer = ImGui::GetIO().MousePos;
  if (window.place) {
    pointer = {static_cast<float>(window.place->first), static_cast<float>(window.place->second)};
    window.shown = *window.place;
  } else {
    window.shown = {static_cast<double>(pointer.x), static_cast<double>(pointer.y)};
  }
  std::copy(window.down.begin(), window.down.end(), ImGui::GetIO().MouseDown);
  ImGui::NewFrame();
  window.app->frame(now);
  ImGui::Render();
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window.handle, &width, &height);
  gl.viewport(0, 0, width, height);
  const Color back = window.app->clear_color();
  gl.clear_color(static_cast<float>(back.r) / 255, static_cast<float>(back.g) / 255,
                 static_cast<float>(back.b) / 255, 1);
  gl.clear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glfwSwapBuffers(window.handle);
  window.app->frame_done();
}

void wait_until(std::int64_t until, std::int64_t now) {
  if (until <= now) return glfwPollEvents();
  glfwWaitEventsTimeout(std::min(static_cast<double>(until - now) * 1e-9, kLongest));
}

void loop(Window& window, Waker& waker, const EndsOnSignal& signals) {
  const Gl gl = Gl::load();
  App& app = *window.app;
  std::string title;
  std::uint64_t trimmed_frames = 0;
  std::int64_t trim_ns = 0;
  while (glfwWindowShouldClose(window.handle) == 0 && !signals.came() && !app.quit_requested()) {
    const std::int64_t now = monotonic_now().ns;
    waker.arrived.store(false);
    app.pump(now);
    if (const std::string next = app.title(); next != title) {
      title = next;
      glfwSetWindowTitle(window.handle, title.c_str());
    }
    const bool hidden = glfwGetWindowAttrib(window.handle, GLFW_ICONIFIED) == GLFW_TRUE;
    feed(window, hidden);
    if (!hidden && app.wants_frame(now)) draw(gl, window, now);
    // Frees 10 MB between the messages of the past and of displays. It takes about 1 ms.
    if (now >= trim_ns && app.frames() > trimmed_frames + 2) {
      trimmed_frames = app.frames();
      trim_ns = now + kTrimPeriod;
      ::malloc_trim(0);
    }
    window.input = false;
    if (!window.events.empty()) {
      app.invalidate();
      continue;
    }
    const std::int64_t after = monotonic_now().ns;
    std::int64_t next = app.next_ns(after);
    if (hidden) next = std::max(next, after + 100 * kMillisecond);
    const std::int64_t gathered = now + kGather;
    if (after < gathered && next > after) {
      wait_until(std::min(next, gathered), after);
    }
    if (!window.input && !waker.arrived.load()) {
      waker.armed.store(true);
      // An arrival between the two lines has disarmed, and its event is queued.
      if (waker.arrived.load() && waker.armed.exchange(false)) {
        glfwPollEvents();
      } else {
        wait_until(next, monotonic_now().ns);
      }
      waker.armed.store(false);
    }
    if (window.input) app.invalidate();
    if (!window.dropped.empty()) app.open_files(std::exchange(window.dropped, {}));
  }
}

}  // namespace

Result<void> run_window(const Options& options) {
  EndsOnSignal signals;
  Glfw glfw;
  auto handle = glfw.open(options);
  if (!handle) return handle.error();
  Window window;
  window.handle = *handle;
  watch_display();
  glfwSetWindowUserPointer(window.handle, &window);
  watch_input(window.handle);
  const Gui gui(window.handle);
  signals.start([] { glfwPostEmptyEvent(); });
  AppOptions app = options.app;
  app.settings = settings_file();
  if (!options.has_scale) {
    float x = 1;
    float y = 1;
    glfwGetWindowContentScale(window.handle, &x, &y);
    app.scale = std::clamp(std::round(std::max(x, y) * 4) / 4, 0.5F, 4.F);
  }
  Waker waker;
  auto opened = App::open(app, glfwGetProcAddress, [&waker] { waker.wake(); });
  if (!opened) return opened.error();
  window.app = opened->get();
  on_lost_display().app = window.app;
  // Before the application ends: the window, which ends after it, may lose the display.
  const std::unique_ptr<OnLostDisplay, void (*)(OnLostDisplay*)> forget(
      &on_lost_display(), [](OnLostDisplay* state) { state->app = nullptr; });
  loop(window, waker, signals);
  int width = 0;
  int height = 0;
  glfwGetWindowSize(window.handle, &width, &height);
  window.app->save_settings(width, height);
  if (!options.report.empty()) {
    // Messages that have arrived belong to the report.
    window.app->pump(monotonic_now().ns);
    if (auto saved = save_report(options.report, make_report(*window.app)); !saved) return saved;
  }
  if (!options.save_layout.empty()) {
    if (auto saved = save_layout(options.save_layout, window.app->layout()); !saved) return saved;
  }
  return {};
}

}  // namespace hyphos::view
