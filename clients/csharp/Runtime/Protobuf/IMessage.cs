using System;

namespace Hyphos
{
    /// <summary>The interface of the classes that `hyphos msg csharp` generates for protobuf
    /// messages. Encoding and decoding a reused object allocates nothing once its arrays have
    /// grown.</summary>
    public interface IMessage
    {
        /// <summary>The full name, for example "hyphos.msgs.LaserScan".</summary>
        string TypeName { get; }
        /// <summary>The number of bytes that Write() writes. Caches the sizes of nested messages
        /// for Write().</summary>
        int ByteSize();
        /// <summary>The last result of ByteSize().</summary>
        int CachedSize { get; }
        /// <summary>Requires a ByteSize() call before.</summary>
        void Write(ref ProtoWriter writer);
        /// <summary>Merges the fields up to the end of the reader.</summary>
        void Read(ref ProtoReader reader);
        /// <summary>Resets all fields, but keeps arrays and nested messages for reuse.</summary>
        void Clear();
    }

    /// <summary>Conversion between messages and bytes.</summary>
    public static unsafe class Wire
    {
        /// <summary>Writes exactly `size` bytes. `size` must be the last result of
        /// ByteSize().</summary>
        public static void Write(IMessage message, byte* at, int size)
        {
            ProtoWriter writer = new ProtoWriter(at, size);
            message.Write(ref writer);
            if (!writer.Exact)
            {
                throw new InvalidOperationException(message.TypeName + " was changed by another thread while it was encoded. " +
                    "Change and publish a message from one thread at a time");
            }
        }

        /// <summary>Returns false if the bytes are not a message of this type. The content of
        /// `message` is then undefined.</summary>
        public static bool Read(IMessage message, byte* at, long size)
        {
            message.Clear();
            ProtoReader reader = new ProtoReader(at, size);
            message.Read(ref reader);
            return !reader.Failed;
        }

        public static byte[] ToArray(IMessage message)
        {
            byte[] bytes = new byte[message.ByteSize()];
            fixed (byte* at = bytes) Write(message, at, bytes.Length);
            return bytes;
        }

        public static bool FromArray(IMessage message, byte[] bytes)
        {
            fixed (byte* at = bytes) return Read(message, at, bytes.Length);
        }

        internal static ChannelType TypeOf<T>(ChannelEncoding encoding) where T : class, IMessage, new()
        {
            string name = new T().TypeName;
            return encoding == ChannelEncoding.Attached ? ChannelType.Attached(name) : ChannelType.Protobuf(name);
        }
    }
}
