#pragma once

#include <GL/glcorearb.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "hyphos/result.hpp"
#include "view/scene/renderer.hpp"

// The functions of OpenGL 3.3 that the renderer uses: the name of the type, and the name.
#define HYPHOS_GL_FUNCTIONS(F)                          \
  F(ACTIVETEXTURE, ActiveTexture)                       \
  F(ATTACHSHADER, AttachShader)                         \
  F(BINDBUFFER, BindBuffer)                             \
  F(BINDFRAMEBUFFER, BindFramebuffer)                   \
  F(BINDTEXTURE, BindTexture)                           \
  F(BINDVERTEXARRAY, BindVertexArray)                   \
  F(BLENDFUNCSEPARATE, BlendFuncSeparate)               \
  F(BLITFRAMEBUFFER, BlitFramebuffer)                   \
  F(BUFFERDATA, BufferData)                             \
  F(BUFFERSUBDATA, BufferSubData)                       \
  F(CHECKFRAMEBUFFERSTATUS, CheckFramebufferStatus)     \
  F(CLEAR, Clear)                                       \
  F(CLEARCOLOR, ClearColor)                             \
  F(COMPILESHADER, CompileShader)                       \
  F(CLIENTWAITSYNC, ClientWaitSync)                     \
  F(CREATEPROGRAM, CreateProgram)                       \
  F(CREATESHADER, CreateShader)                         \
  F(DELETEBUFFERS, DeleteBuffers)                       \
  F(DELETEFRAMEBUFFERS, DeleteFramebuffers)             \
  F(DELETEPROGRAM, DeleteProgram)                       \
  F(DELETESHADER, DeleteShader)                         \
  F(DELETESYNC, DeleteSync)                             \
  F(DELETETEXTURES, DeleteTextures)                     \
  F(DELETEVERTEXARRAYS, DeleteVertexArrays)             \
  F(DEPTHFUNC, DepthFunc)                               \
  F(DEPTHMASK, DepthMask)                               \
  F(DISABLE, Disable)                                   \
  F(DISABLEVERTEXATTRIBARRAY, DisableVertexAttribArray) \
  F(DRAWARRAYS, DrawArrays)                             \
  F(DRAWARRAYSINSTANCED, DrawArraysInstanced)           \
  F(ENABLE, Enable)                                     \
  F(ENABLEVERTEXATTRIBARRAY, EnableVertexAttribArray)   \
  F(FENCESYNC, FenceSync)                               \
  F(FINISH, Finish)                                     \
  F(FRAMEBUFFERTEXTURE2D, FramebufferTexture2D)         \
  F(GENBUFFERS, GenBuffers)                             \
  F(GENFRAMEBUFFERS, GenFramebuffers)                   \
  F(GENTEXTURES, GenTextures)                           \
  F(GENVERTEXARRAYS, GenVertexArrays)                   \
  F(GETBUFFERSUBDATA, GetBufferSubData)                 \
  F(GETERROR, GetError)                                 \
  F(GETINTEGERV, GetIntegerv)                           \
  F(GETPROGRAMINFOLOG, GetProgramInfoLog)               \
  F(GETPROGRAMIV, GetProgramiv)                         \
  F(GETSHADERINFOLOG, GetShaderInfoLog)                 \
  F(GETSHADERIV, GetShaderiv)                           \
  F(GETSTRING, GetString)                               \
  F(GETUNIFORMLOCATION, GetUniformLocation)             \
  F(LINKPROGRAM, LinkProgram)                           \
  F(PIXELSTOREI, PixelStorei)                           \
  F(POLYGONOFFSET, PolygonOffset)                       \
  F(READPIXELS, ReadPixels)                             \
  F(SHADERSOURCE, ShaderSource)                         \
  F(TEXIMAGE2D, TexImage2D)                             \
  F(TEXPARAMETERI, TexParameteri)                       \
  F(TEXPARAMETERIV, TexParameteriv)                     \
  F(TEXSUBIMAGE2D, TexSubImage2D)                       \
  F(UNIFORM1F, Uniform1f)                               \
  F(UNIFORM1I, Uniform1i)                               \
  F(UNIFORM2F, Uniform2f)                               \
  F(UNIFORM3F, Uniform3f)                               \
  F(UNIFORM4F, Uniform4f)                               \
  F(UNIFORMMATRIX4FV, UniformMatrix4fv)                 \
  F(USEPROGRAM, UseProgram)                             \
  F(VERTEXATTRIB4F, VertexAttrib4f)                     \
  F(VERTEXATTRIBDIVISOR, VertexAttribDivisor)           \
  F(VERTEXATTRIBPOINTER, VertexAttribPointer)           \
  F(VIEWPORT, Viewport)

namespace hyphos::view {

/// The OpenGL functions of one context, and the programs and counters that its users share.
class Gl {
 public:
  Gl() = default;
  Gl(const Gl&) = delete;
  Gl& operator=(const Gl&) = delete;

#define HYPHOS_GL_MEMBER(type, name) PFNGL##type##PROC name = nullptr;
  HYPHOS_GL_FUNCTIONS(HYPHOS_GL_MEMBER)
#undef HYPHOS_GL_MEMBER

  /// unsupported if a function is missing or the version is older than 3.3.
  Result<void> load(GlLoader loader);
  [[nodiscard]] std::string description() const;

  std::uint64_t uploads = 0;  // of vertices and images
};

/// Owns the name of an OpenGL object. The context must be current when it is destroyed.
class GlName {
 public:
  using Delete = void (*)(Gl& gl, GLuint name);
  GlName() = default;
  GlName(Gl& gl, GLuint name, Delete free) : gl_(&gl), name_(name), free_(free) {}
  GlName(GlName&& other) noexcept
      : gl_(other.gl_), name_(std::exchange(other.name_, 0)), free_(other.free_) {}
  GlName& operator=(GlName other) noexcept {
    std::swap(gl_, other.gl_);
    std::swap(name_, other.name_);
    std::swap(free_, other.free_);
    return *this;
  }
  ~GlName() {
    if (name_ != 0) free_(*gl_, name_);
  }
  [[nodiscard]] GLuint get() const { return name_; }
  explicit operator bool() const { return name_ != 0; }

 private:
  Gl* gl_ = nullptr;
  GLuint name_ = 0;
  Delete free_ = nullptr;
};

[[nodiscard]] GlName make_buffer(Gl& gl);
[[nodiscard]] GlName make_vertex_array(Gl& gl);
[[nodiscard]] GlName make_texture(Gl& gl);
[[nodiscard]] GlName make_framebuffer(Gl& gl);

/// A vertex and a fragment shader. `attributes` are at fixed places by `layout(location = n)`.
class GlProgram {
 public:
  GlProgram() = default;
  static Result<GlProgram> build(Gl& gl, std::string_view name, std::string_view vertex,
                                 std::string_view fragment);
  void use() const { gl_->UseProgram(name_.get()); }
  [[nodiscard]] GLint at(const char* uniform) const {
    return gl_->GetUniformLocation(name_.get(), uniform);
  }
  void set(const char* uniform, int value) const { gl_->Uniform1i(at(uniform), value); }
  void set(const char* uniform, float value) const { gl_->Uniform1f(at(uniform), value); }
  void set(const char* uniform, float x, float y) const { gl_->Uniform2f(at(uniform), x, y); }
  void set(const char* uniform, const Vec3f& v) const {
    gl_->Uniform3f(at(uniform), v.x(), v.y(), v.z());
  }
  void set(const char* uniform, Color c) const {
    gl_->Uniform4f(at(uniform), static_cast<float>(c.r) / 255, static_cast<float>(c.g) / 255,
                   static_cast<float>(c.b) / 255, static_cast<float>(c.a) / 255);
  }
  void set(const char* uniform, const Mat4f& m) const {
    gl_->UniformMatrix4fv(at(uniform), 1, GL_FALSE, m.data());
  }

 private:
  Gl* gl_ = nullptr;
  GlName name_;
};

/// An offset in the bound buffer, which OpenGL takes as a pointer.
[[nodiscard]] inline const void* offset_pointer(std::size_t bytes) {
  return reinterpret_cast<const void*>(bytes);  // NOLINT(performance-no-int-to-ptr)
}

/// A picture with colour and depth.
struct GlTarget {
  GlName framebuffer;
  GlName color;
  GlName depth;
  int width = 0;
  int height = 0;

  Result<void> resize(Gl& gl, int new_width, int new_height);
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 8;
  }
};

}  // namespace hyphos::view
