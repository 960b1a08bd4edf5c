using System;

namespace Hyphos
{
    /// <summary>What `hyphos msg csharp` makes of a protobuf message. Encoding and decoding into an object
    /// that has been used before allocate nothing once its arrays have grown.</summary>
    public interface IMessage
    {
        /// <summary>"hyphos.msgs.LaserScan".</summary>
        string TypeName { get; }
        /// <summary>Bytes that Write() writes; it remembers the sizes of parts for it.</summary>
        int ByteSize();
        /// <summary>What ByteSize() has said last.</summary>
        int CachedSize { get; }
        /// <summary>ByteSize() comes first.</summary>
        void Write(ref ProtoWriter writer);
        /// <summary>Merges fields until the end of the reader.</summary>
        void Read(ref ProtoReader reader);
        /// <summary>As new, but keeps arrays and parts for the next use.</summary>
        void Clear();
    }

    /// <summary>Messages to bytes and back.</summary>
    public static unsafe class Wire
    {
        /// <summary>Writes exactly `size` bytes, which ByteSize() has just said.</summary>
        public static void Write(IMessage message, byte* at, int size)
        {
            ProtoWriter writer = new ProtoWriter(at, size);
            message.Write(ref writer);
            if (!writer.Exact)
            {
                throw new InvalidOperationException(message.TypeName + " was changed by another thread while it was written");
            }
        }

        /// <summary>False if the bytes are no such message; what it holds then is of no use.</summary>
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
