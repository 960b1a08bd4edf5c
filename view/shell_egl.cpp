#include "view/shell_egl.hpp"

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace hyphos::view {
namespace {

Error unsupported(const std::string& what) {
  char code[32];
  std::snprintf(code, sizeof(code), " (EGL 0x%x)", static_cast<unsigned>(eglGetError()));
  return Error{Code::unsupported,
               what + code +
                   ". Install libegl1 and libgl1-mesa-dri, or set "
                   "LIBGL_ALWAYS_SOFTWARE=1",
               ""};
}

bool has_extension(const char* list, const char* name) {
  return list != nullptr && std::strstr(list, name) != nullptr;
}

EGLDisplay open_display() {
  const char* const extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  if (has_extension(extensions, "EGL_MESA_platform_surfaceless")) {
    EGLDisplay display =
        eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr) == EGL_TRUE) {
      return display;
    }
  }
  // Other drivers list their devices.
  const auto query = reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(  // NOLINT
      eglGetProcAddress("eglQueryDevicesEXT"));
  EGLDeviceEXT devices[16];
  EGLint count = 0;
  if (query != nullptr && query(16, devices, &count) == EGL_TRUE) {
    for (EGLint i = 0; i < count; ++i) {
      EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr);
      if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr) == EGL_TRUE) {
        return display;
      }
    }
  }
  return EGL_NO_DISPLAY;
}

}  // namespace

Result<std::unique_ptr<EglContext>> EglContext::open() {
  std::unique_ptr<EglContext> made(new EglContext);
  made->display_ = open_display();
  if (made->display_ == EGL_NO_DISPLAY) return unsupported("there is no EGL without a window");
  if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) return unsupported("EGL has no OpenGL");
  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (eglChooseConfig(made->display_, wanted, &config, 1, &count) != EGL_TRUE || count == 0) {
    config = EGL_NO_CONFIG_KHR;
  }
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                            3,
                            EGL_CONTEXT_MINOR_VERSION,
                            3,
                            EGL_CONTEXT_OPENGL_PROFILE_MASK,
                            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                            EGL_NONE};
  made->context_ = eglCreateContext(made->display_, config, EGL_NO_CONTEXT, version);
  if (made->context_ == EGL_NO_CONTEXT) {
    return unsupported("the driver has no OpenGL 3.3 core");
  }
  if (eglMakeCurrent(made->display_, EGL_NO_SURFACE, EGL_NO_SURFACE, made->context_) != EGL_TRUE) {
    return unsupported("EGL cannot draw without a surface");
  }
  return made;
}

EglContext::~EglContext() {
  if (display_ == nullptr) return;
  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (context_ != nullptr) eglDestroyContext(display_, context_);
  eglTerminate(display_);
}

GlLoader EglContext::loader() const { return &eglGetProcAddress; }

}  // namespace hyphos::view
