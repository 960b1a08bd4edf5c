// Stand-ins for the parts of Unity that the package uses, with the documented signatures. The test
// compiles the sources against them, because no Unity is installed. No stand-in runs.
using System;

namespace AOT
{
    public sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        public MonoPInvokeCallbackAttribute(Type type) { }
    }
}

namespace UnityEngine
{
    public class Object
    {
        public static T FindObjectOfType<T>() where T : Object { return null; }
    }
    public class Component : Object
    {
        public T GetComponent<T>() { return default(T); }
    }
    public class MonoBehaviour : Component { }
    public sealed class DefaultExecutionOrderAttribute : Attribute
    {
        public DefaultExecutionOrderAttribute(int order) { }
    }
    public sealed class TooltipAttribute : Attribute
    {
        public TooltipAttribute(string text) { }
    }
    public static class Debug
    {
        public static void LogException(Exception exception) { }
    }
    public class Texture : Object { }
    public enum TextureFormat { RGB24 }
    public sealed class Texture2D : Texture
    {
        public Texture2D(int width, int height, TextureFormat format, bool mipChain) { }
        public int width { get { return 0; } }
        public int height { get { return 0; } }
        public void LoadRawTextureData<T>(Unity.Collections.NativeArray<T> data) where T : struct { }
        public void Apply(bool updateMipmaps) { }
    }
    public sealed class Material : Object
    {
        public Texture mainTexture;
    }
    public class Renderer : Component
    {
        public Material material { get { return null; } }
    }
}

namespace UnityEditor
{
    public static class AssemblyReloadEvents
    {
        public delegate void AssemblyReloadCallback();
        public static event AssemblyReloadCallback beforeAssemblyReload { add { } remove { } }
    }
}

namespace Unity.Collections
{
    public enum Allocator { None }
    public struct NativeArray<T> where T : struct
    {
        public int Length { get { return 0; } }
    }
}

namespace Unity.Collections.LowLevel.Unsafe
{
    public struct AtomicSafetyHandle
    {
        public static AtomicSafetyHandle GetTempMemoryHandle() { return new AtomicSafetyHandle(); }
    }
    public static class UnsafeUtility
    {
        public static int SizeOf<T>() where T : struct { return 0; }
    }
    public static unsafe class NativeArrayUnsafeUtility
    {
        public static NativeArray<T> ConvertExistingDataToNativeArray<T>(void* data, int length, Allocator allocator)
            where T : struct
        {
            return new NativeArray<T>();
        }
        public static void SetAtomicSafetyHandle<T>(ref NativeArray<T> array, AtomicSafetyHandle safety) where T : struct { }
        public static void* GetUnsafeReadOnlyPtr<T>(NativeArray<T> array) where T : struct { return null; }
    }
}
