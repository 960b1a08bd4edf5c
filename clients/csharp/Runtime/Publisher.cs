using System;
using System.Runtime.InteropServices;
#if UNITY_2020_1_OR_NEWER
using Unity.Collections;
using Unity.Collections.LowLevel.Unsafe;
#endif

namespace Hyphos
{
    /// <summary>The publisher endpoint of a channel. Publishing allocates no managed memory. It
    /// blocks only if the overflow rule of the channel is `block`. It throws if the channel broke a
    /// guarantee.</summary>
    public unsafe class RawPublisher : Handle
    {
        private readonly object lending_ = new object();
        private NativeLoan[] loans_ = new NativeLoan[4];
        private uint[] versions_ = new uint[4];

        internal RawPublisher(Node node, string channel, ChannelType type, Policy policy)
        {
            Channel = channel;
            NativeEndOptions options = new NativeEndOptions();
            options.StructSize = (ulong)sizeof(NativeEndOptions);
            NativePolicy promised = policy == null ? new NativePolicy() : Policy.Native(policy);
            if (policy != null) options.Policy = (IntPtr)(&promised);
            using (Lease owner = node.Use())
            fixed (byte* name = Text.Utf8(channel), typeName = Text.Utf8(type.Name))
            {
                NativeType native = type.Native((IntPtr)typeName);
                IntPtr handle;
                NativeError error;
                HyphosException.Check(
                    Native.hyphos_publisher_open(owner.Value, name, &native, &options, &handle, &error), &error);
                Own(handle);
            }
        }

        public string Channel { get; private set; }
        /// <summary>The number of subscriptions in this process and receivers outside.</summary>
        public int Listeners { get { using (Lease self = Use()) return (int)Native.hyphos_publisher_listeners(self.Value); } }

        /// <summary>Publishes any memory. Copies it once, to memory that receivers read
        /// directly.</summary>
        public Published Publish(IntPtr data, long size)
        {
            NativePublished published;
            NativeError error;
            using (Lease self = Use())
            HyphosException.Check(
                Native.hyphos_publish(self.Value, (void*)data, (UIntPtr)(ulong)size, null, UIntPtr.Zero, &published, &error),
                &error);
            return new Published(published);
        }

        public Published Publish(byte[] data) { return Publish(data, 0, data.Length); }

        public Published Publish(byte[] data, int offset, int count)
        {
            if (offset < 0 || count < 0 || offset > data.Length - count) throw new ArgumentOutOfRangeException("count");
            fixed (byte* at = data) return Publish((IntPtr)(at + offset), count);
        }

        /// <summary>Publishes an array of numbers or other plain values. The array is pinned during
        /// the copy.</summary>
        public Published Publish(Array data)
        {
            GCHandle pin = GCHandle.Alloc(data, GCHandleType.Pinned);
            try { return Publish(pin.AddrOfPinnedObject(), System.Buffer.ByteLength(data)); }
            finally { pin.Free(); }
        }

#if UNITY_2020_1_OR_NEWER
        public Published Publish<T>(NativeArray<T> data) where T : struct
        {
            return Publish((IntPtr)NativeArrayUnsafeUtility.GetUnsafeReadOnlyPtr(data),
                           (long)data.Length * UnsafeUtility.SizeOf<T>());
        }
#endif

        /// <summary>Publishes a received message again, without a copy.</summary>
        public Published Publish(MessageView message)
        {
            NativePublished published;
            NativeError error;
            using (Lease self = Use())
            HyphosException.Check(Native.hyphos_publish_message(self.Value, message.At(), &published, &error), &error);
            return new Published(published);
        }

        /// <summary>Memory that receivers will read directly. The caller fills it, then publishes
        /// or disposes of it. The memory is not initialised.</summary>
        public Loan Loan(long size)
        {
            NativeLoan native;
            NativeError error;
            using (Lease self = Use())
            lock (lending_)
            {
                HyphosException.Check(
                    Native.hyphos_loan_bytes(self.Value, (UIntPtr)checked((ulong)size), &native, &error), &error);
                int free = 0;
                while (free < loans_.Length && loans_[free].Data != IntPtr.Zero) ++free;
                if (free == loans_.Length)
                {
                    Array.Resize(ref loans_, 2 * free);
                    Array.Resize(ref versions_, 2 * free);
                }
                loans_[free] = native;
                return new Loan(this, free, versions_[free], (byte*)native.Data, size);
            }
        }

        /// <summary>Publishes a loan, or its first `size` bytes, without a copy. The loan
        /// ends.</summary>
        public Published Publish(Loan loan) { return Publish(loan, loan.Length); }

        public Published Publish(Loan loan, long size)
        {
            using (Lease self = Use())
            {
                NativeLoan native = Take(loan);
                NativePublished published;
                NativeError error;
                HyphosException.Check(
                    Native.hyphos_publish_loan(self.Value, &native, (UIntPtr)checked((ulong)size), &published, &error),
                    &error);
                return new Published(published);
            }
        }

        internal Published PublishAttached(byte* head, int size, Loan loan)
        {
            using (Lease self = Use())
            {
                NativeLoan native = Take(loan);
                NativePublished published;
                NativeError error;
                HyphosException.Check(
                    Native.hyphos_publish_attached(self.Value, head, (UIntPtr)size, &native, (UIntPtr)1, &published,
                                                   &error),
                    &error);
                return new Published(published);
            }
        }

        /// <summary>A counter as `hyphos channel` shows it, such as "sent".</summary>
        public long Counter(string name)
        {
            using (Lease self = Use())
            fixed (byte* text = Text.Utf8(name))
            {
                ulong value;
                NativeError error;
                HyphosException.Check(Native.hyphos_publisher_counter(self.Value, text, &value, &error), &error);
                return (long)value;
            }
        }

        internal bool Lends(int slot, uint version)
        {
            lock (lending_) return versions_[slot] == version && loans_[slot].Data != IntPtr.Zero;
        }

        /// <summary>Ends a loan. Throws if the loan has ended or is of another publisher.</summary>
        internal NativeLoan Take(Loan loan)
        {
            lock (lending_)
            {
                if (loan.Lender != this || versions_[loan.Slot] != loan.Version || loans_[loan.Slot].Data == IntPtr.Zero)
                {
                    throw new InvalidOperationException(
                        "the loan is of another publisher, or it has already been published or disposed of");
                }
                NativeLoan native = loans_[loan.Slot];
                loans_[loan.Slot] = new NativeLoan();
                ++versions_[loan.Slot];
                return native;
            }
        }

        internal override void Close(IntPtr value)
        {
            lock (lending_)
            {
                for (int i = 0; i < loans_.Length; ++i)
                {
                    NativeLoan native = loans_[i];
                    loans_[i] = new NativeLoan();
                    ++versions_[i];
                    Native.hyphos_loan_drop(&native);
                }
            }
            Native.hyphos_publisher_close(value);
        }
    }

    /// <summary>Memory on loan from a publisher. Copies of the struct are the same loan. Publishing
    /// or disposing of one copy ends all of them.</summary>
    public unsafe struct Loan : IDisposable
    {
        internal readonly RawPublisher Lender;
        internal readonly int Slot;
        internal readonly uint Version;
        private readonly byte* pointer_;
        public readonly long Length;

        internal Loan(RawPublisher lender, int slot, uint version, byte* pointer, long length)
        {
            Lender = lender;
            Slot = slot;
            Version = version;
            pointer_ = pointer;
            Length = length;
        }

        /// <summary>Valid until the loan ends.</summary>
        public byte* Pointer
        {
            get
            {
                if (Lender == null || !Lender.Lends(Slot, Version)) throw new ObjectDisposedException("Loan");
                return pointer_;
            }
        }

        public void CopyFrom(Array source)
        {
            long size = System.Buffer.ByteLength(source);
            if (size > Length)
            {
                throw new ArgumentException("the loan has " + Length + " bytes, but the array has " + size);
            }
            GCHandle pin = GCHandle.Alloc(source, GCHandleType.Pinned);
            try { System.Buffer.MemoryCopy((void*)pin.AddrOfPinnedObject(), Pointer, Length, size); }
            finally { pin.Free(); }
        }

#if UNITY_2020_1_OR_NEWER
        /// <summary>The same memory as a Unity array, for jobs and textures to write into. It must
        /// not be used after the loan has ended.</summary>
        public NativeArray<T> AsNativeArray<T>() where T : struct
        {
            return new ByteView(Pointer, Length).AsNativeArray<T>();
        }
#endif

        public void Dispose()
        {
            if (Lender == null || !Lender.Lends(Slot, Version)) return;
            NativeLoan native = Lender.Take(this);
            Native.hyphos_loan_drop(&native);
        }
    }

    /// <summary>The publisher endpoint of a channel of protobuf messages. It encodes a message
    /// once, into memory that receivers read directly.</summary>
    public sealed unsafe class Publisher<T> : RawPublisher where T : class, IMessage, new()
    {
        private readonly object encoding_ = new object();
        private byte[] head_ = new byte[256];

        internal Publisher(Node node, string channel, ChannelEncoding encoding, Policy policy)
            : base(node, channel, Wire.TypeOf<T>(encoding), policy) { }

        public Published Publish(T message)
        {
            int size = message.ByteSize();
            if (size == 0) return Publish(IntPtr.Zero, 0);
            Loan loan = Loan(size);
            try
            {
                Wire.Write(message, loan.Pointer, size);
            }
            catch
            {
                loan.Dispose();
                throw;
            }
            return Publish(loan);
        }

        /// <summary>Publishes a head with one buffer on loan from this publisher, such as an image
        /// and its pixels.</summary>
        public Published Publish(T head, Loan buffer)
        {
            lock (encoding_)
            {
                int size = head.ByteSize();
                if (head_.Length < size) head_ = new byte[2 * size];
                fixed (byte* at = head_)
                {
                    Wire.Write(head, at, size);
                    return PublishAttached(at, size, buffer);
                }
            }
        }
    }
}
