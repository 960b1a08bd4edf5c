#include "cosim/physics/mujoco/egl.hpp"

#include <string>

#ifdef HYPHOS_COSIM_EGL
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <dlfcn.h>

#include <array>
#include <cstring>
#endif

namespace hyphos::cosim {
namespace {

Error unsupported(const std::string& what) {
  return {Code::unsupported,
          "cannot draw the pictures of cameras: " + what +
              ". Install libegl1 and libgl1-mesa-dri, or remove `camera` from the sensors",
          "mujoco"};
}

}  // namespace

#ifdef HYPHOS_COSIM_EGL

/// EGL is loaded when the first camera needs it. MuJoCo looks for eglGetCurrentContext among the
/// global symbols of the process, therefore RTLD_GLOBAL.
struct EglContext::Library {
  decltype(&eglGetProcAddress) proc = nullptr;
  decltype(&eglQueryString) query = nullptr;
  decltype(&eglGetPlatformDisplay) platform = nullptr;
  decltype(&eglInitialize) initialize = nullptr;
  decltype(&eglBindAPI) bind = nullptr;
  decltype(&eglChooseConfig) choose = nullptr;
  decltype(&eglCreateContext) create = nullptr;
  decltype(&eglDestroyContext) destroy = nullptr;
  decltype(&eglMakeCurrent) make_current = nullptr;

  bool load() {
    void* const handle = ::dlopen("libEGL.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr) return false;
    const auto find = [&](auto& to, const char* name) {
      to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(::dlsym(handle, name));
      return to != nullptr;
    };
    return find(proc, "eglGetProcAddress") && find(query, "eglQueryString") &&
           find(platform, "eglGetPlatformDisplay") && find(initialize, "eglInitialize") &&
           find(bind, "eglBindAPI") && find(choose, "eglChooseConfig") &&
           find(create, "eglCreateContext") && find(destroy, "eglDestroyContext") &&
           find(make_current, "eglMakeCurrent");
  }

  [[nodiscard]] EGLDisplay initialized(EGLenum kind, void* native) const {
    EGLDisplay display = platform(kind, native, nullptr);
    if (display == EGL_NO_DISPLAY || initialize(display, nullptr, nullptr) != EGL_TRUE) {
      return EGL_NO_DISPLAY;
    }
    return display;
  }

  /// Mesa without a window. Other drivers list their devices.
  [[nodiscard]] EGLDisplay display() const {
    const char* const extensions = query(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    if (extensions != nullptr &&
        std::strstr(extensions, "EGL_MESA_platform_surfaceless") != nullptr) {
      EGLDisplay found = initialized(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY);
      if (found != EGL_NO_DISPLAY) return found;
    }
    const auto devices_of = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(proc("eglQueryDevicesEXT"));
    std::array<EGLDeviceEXT, 16> devices{};
    EGLint count = 0;
    if (devices_of == nullptr || devices_of(16, devices.data(), &count) != EGL_TRUE) {
      return EGL_NO_DISPLAY;
    }
    for (EGLint i = 0; i < count; ++i) {
      EGLDisplay found = initialized(EGL_PLATFORM_DEVICE_EXT, devices[static_cast<std::size_t>(i)]);
      if (found != EGL_NO_DISPLAY) return found;
    }
    return EGL_NO_DISPLAY;
  }
};

EglContext::EglContext(std::unique_ptr<Library> library) : library_(std::move(library)) {}

Result<std::unique_ptr<EglContext>> EglContext::open() {
  auto library = std::make_unique<Library>();
  if (!library->load()) return unsupported("there is no library libEGL.so.1");
  std::unique_ptr<EglContext> made(new EglContext(std::move(library)));
  const Library& egl = *made->library_;
  made->display_ = egl.display();
  if (made->display_ == EGL_NO_DISPLAY) return unsupported("there is no EGL without a window");
  if (egl.bind(EGL_OPENGL_API) != EGL_TRUE) return unsupported("EGL has no OpenGL");
  constexpr std::array<EGLint, 5> kWanted{EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0,
                                          EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (egl.choose(made->display_, kWanted.data(), &config, 1, &count) != EGL_TRUE || count == 0) {
    config = EGL_NO_CONFIG_KHR;
  }
  // MuJoCo draws with the fixed pipeline, which a compatibility context has.
  made->context_ = egl.create(made->display_, config, EGL_NO_CONTEXT, nullptr);
  if (made->context_ == EGL_NO_CONTEXT) return unsupported("the driver has no OpenGL");
  return made;
}

/// The display stays open: all users in the process share one, and each further one costs nothing.
EglContext::~EglContext() {
  if (context_ != nullptr) library_->destroy(display_, context_);
}

Result<EglContext::Current> EglContext::Current::make(const EglContext& context) {
  const Library& egl = *context.library_;
  // The API belongs to the thread.
  if (egl.bind(EGL_OPENGL_API) != EGL_TRUE ||
      egl.make_current(context.display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context.context_) !=
          EGL_TRUE) {
    return unsupported("EGL cannot draw without a surface");
  }
  return Current(context);
}

EglContext::Current::~Current() {
  if (context_ == nullptr) return;
  context_->library_->make_current(context_->display_, EGL_NO_SURFACE, EGL_NO_SURFACE,
                                   EGL_NO_CONTEXT);
}

#else

struct EglContext::Library {};

EglContext::EglContext(std::unique_ptr<Library> library) : library_(std::move(library)) {}
EglContext::~EglContext() = default;
EglContext::Current::~Current() = default;

Result<std::unique_ptr<EglContext>> EglContext::open() {
  return unsupported("Hyphos was built without libegl-dev. Install it and build again");
}

Result<EglContext::Current> EglContext::Current::make(const EglContext&) {
  return unsupported("Hyphos was built without libegl-dev");
}

#endif

}  // namespace hyphos::cosim
