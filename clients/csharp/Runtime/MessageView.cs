using System;
using System.Runtime.InteropServices;
#if UNITY_2020_1_OR_NEWER
using Unity.Collections;
using Unity.Collections.LowLevel.Unsafe;
#endif

namespace Hyphos
{
    /// <summary>Bytes read in place: in shared memory if another process of this machine sent them.
    /// Valid as long as their message.</summary>
    public unsafe struct ByteView
    {
        public readonly byte* Pointer;
        public readonly long Length;

        public ByteView(byte* pointer, long length)
        {
            Pointer = pointer;
            Length = length;
        }

        public byte this[long index]
        {
            get
            {
                if ((ulong)index >= (ulong)Length) throw new IndexOutOfRangeException();
                return Pointer[index];
            }
        }

        /// <summary>Copies all bytes to an array of numbers or other plain values.</summary>
        public void CopyTo(Array target)
        {
            if (System.Buffer.ByteLength(target) < Length)
            {
                throw new ArgumentException("the array has fewer bytes than this view");
            }
            GCHandle pin = GCHandle.Alloc(target, GCHandleType.Pinned);
            try { System.Buffer.MemoryCopy(Pointer, (void*)pin.AddrOfPinnedObject(), Length, Length); }
            finally { pin.Free(); }
        }

#if UNITY_2021_2_OR_NEWER || NETSTANDARD2_1 || NETCOREAPP
        public ReadOnlySpan<byte> Span { get { return new ReadOnlySpan<byte>(Pointer, checked((int)Length)); } }
#endif
#if UNITY_2020_1_OR_NEWER
        /// <summary>The same bytes as a Unity array, without a copy, for textures, meshes and
        /// jobs.</summary>
        public NativeArray<T> AsNativeArray<T>() where T : struct
        {
            int count = checked((int)(Length / UnsafeUtility.SizeOf<T>()));
            NativeArray<T> array =
                NativeArrayUnsafeUtility.ConvertExistingDataToNativeArray<T>(Pointer, count, Allocator.None);
#if ENABLE_UNITY_COLLECTIONS_CHECKS
            NativeArrayUnsafeUtility.SetAtomicSafetyHandle(ref array, AtomicSafetyHandle.GetTempMemoryHandle());
#endif
            return array;
        }
#endif
    }

    /// <summary>The message of the running callback. A view keeps the version of its message. A
    /// view that is used after its callback throws, and does not read memory of another
    /// message.</summary>
    internal sealed unsafe class Delivery
    {
        private NativeMessage* message_;
        private uint version_;

        public MessageView Begin(NativeMessage* message)
        {
            message_ = message;
            return new MessageView(this, version_);
        }

        public void End()
        {
            message_ = null;
            unchecked { ++version_; }
        }

        public NativeMessage* At(uint version)
        {
            if (version != version_ || message_ == null)
            {
                throw new ObjectDisposedException("MessageView",
                    "a message is valid only until its callback returns. Call Hold() to keep it");
            }
            return message_;
        }
    }

    /// <summary>A received message, without a copy. Valid until its callback returns. Hold() keeps
    /// it longer. Only Hold() allocates.</summary>
    public unsafe struct MessageView
    {
        private readonly Delivery delivery_;
        private readonly uint version_;

        internal MessageView(Delivery delivery, uint version)
        {
            delivery_ = delivery;
            version_ = version;
        }

        internal NativeMessage* At()
        {
            if (delivery_ == null) throw new ObjectDisposedException("MessageView");
            return delivery_.At(version_);
        }

        public ByteView Payload { get { return View(At()->Payload); } }
        /// <summary>The number of attached buffers, such as pixels or points.</summary>
        public int BufferCount { get { return (int)At()->BufferCount; } }
        public ByteView Buffer(int index)
        {
            NativeMessage* message = At();
            if ((uint)index >= message->BufferCount)
            {
                throw new ArgumentOutOfRangeException("index", "the message has " + message->BufferCount + " buffers");
            }
            return View(NativeMessage.Buffer(message, index));
        }

        public ulong Sequence { get { return At()->Sequence; } }
        public ulong Sender { get { return At()->Sender; } }
        /// <summary>True for a latched value that was replayed to a late subscriber.</summary>
        public bool Replayed { get { return At()->Replayed != 0; } }
        /// <summary>Time of publishing in ns, on the clock of Node.MonotonicNs.</summary>
        public long PublishedNs { get { return At()->PublishedNs; } }
        public long ArrivedNs { get { return At()->ArrivedNs; } }

        /// <summary>Keeps the message and its slot of shared memory until the result is disposed
        /// of.</summary>
        public HeldMessage Hold() { return new HeldMessage(At()); }

        private static ByteView View(NativeBytes bytes) { return new ByteView((byte*)bytes.Data, (long)bytes.Size); }
    }

    /// <summary>A message that stays valid after its callback.</summary>
    public sealed unsafe class HeldMessage : IDisposable
    {
        private readonly Delivery delivery_ = new Delivery();
        private NativeMessage* message_;

        internal HeldMessage(NativeMessage* message)
        {
            Allocate();
            NativeError error;
            HyphosException.Check(Native.hyphos_message_hold(message, message_, &error), &error);
        }

        /// <summary>Takes over a message that the library already holds.</summary>
        internal HeldMessage(NativeMessage held)
        {
            Allocate();
            *message_ = held;
        }

        ~HeldMessage() { Release(); }

        public MessageView View
        {
            get
            {
                if (message_ == null) throw new ObjectDisposedException("HeldMessage");
                return delivery_.Begin(message_);
            }
        }

        public void Dispose()
        {
            Release();
            GC.SuppressFinalize(this);
        }

        private void Allocate()
        {
            message_ = (NativeMessage*)Marshal.AllocHGlobal(sizeof(NativeMessage));
            *message_ = new NativeMessage();
        }

        private void Release()
        {
            if (message_ == null) return;
            delivery_.End();
            Native.hyphos_message_release(message_);
            Marshal.FreeHGlobal((IntPtr)message_);
            message_ = null;
        }
    }
}
