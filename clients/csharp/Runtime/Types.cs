using System;

namespace Hyphos
{
    /// <summary>How messages of a channel are written.</summary>
    public enum ChannelEncoding
    {
        Structure = 0,
        Bytes = 1,
        Protobuf = 2,
        Attached = 3,
        Custom = 4
    }

    /// <summary>Names what a channel carries. Both sides of a channel must agree on it.</summary>
    public struct ChannelType
    {
        public readonly string Name;
        public readonly ChannelEncoding Encoding;
        public readonly int Size;

        private ChannelType(string name, ChannelEncoding encoding, int size)
        {
            Name = name;
            Encoding = encoding;
            Size = size;
        }

        /// <summary>Raw bytes, of which Hyphos knows nothing.</summary>
        public static ChannelType Bytes { get { return new ChannelType("bytes", ChannelEncoding.Bytes, 0); } }
        public static ChannelType Protobuf(string name) { return new ChannelType(name, ChannelEncoding.Protobuf, 0); }
        /// <summary>A protobuf head with buffers beside it: images, clouds.</summary>
        public static ChannelType Attached(string head) { return new ChannelType(head, ChannelEncoding.Attached, 0); }
        /// <summary>The bytes of a struct without references; its name is that of the C++ struct.</summary>
        public static ChannelType Structure(string name, int size) { return new ChannelType(name, ChannelEncoding.Structure, size); }

        internal NativeType Native(IntPtr name)
        {
            NativeType type = new NativeType();
            type.Name = name;
            type.Bytes = (ulong)Size;
            type.Encoding = (int)Encoding;
            return type;
        }
    }

    /// <summary>Where the callbacks of a subscription or a service run.</summary>
    public enum Mode
    {
        /// <summary>In the thread that calls Node.Pump(): in Unity, its main thread.</summary>
        Pump = 0,
        /// <summary>On a thread of Hyphos, one at a time.</summary>
        Thread = 1,
        /// <summary>In the thread that delivers: the shortest path. It must be short and must not block.</summary>
        Inline = 3
    }

    public enum Reliability { BestEffort = 0, Reliable = 1 }
    public enum Overflow { Implied = 0, DropOldest = 1, DropNewest = 2, Block = 3 }
    public enum Priority { Normal = 0, Low = 1, High = 2 }

    /// <summary>What a channel promises, where the plan does not name it.</summary>
    public sealed class Policy
    {
        public Reliability Reliability;
        public Overflow Overflow;
        public Priority Priority;
        /// <summary>A late subscriber gets the last message at once.</summary>
        public bool Latched;
        /// <summary>Messages that may wait in each queue.</summary>
        public int Depth = 10;
        public long DeadlineMs;
        public long BlockTimeoutMs;

        internal static unsafe NativePolicy Native(Policy policy)
        {
            NativePolicy native = new NativePolicy();
            native.StructSize = (ulong)sizeof(NativePolicy);
            native.Reliability = (int)policy.Reliability;
            native.Overflow = (int)policy.Overflow;
            native.Priority = (int)policy.Priority;
            native.Latched = policy.Latched ? 1 : 0;
            native.Depth = (uint)policy.Depth;
            native.DeadlineMs = policy.DeadlineMs;
            native.BlockTimeoutMs = policy.BlockTimeoutMs;
            return native;
        }
    }

    /// <summary>What became of a message.</summary>
    public struct Published
    {
        public readonly ulong Sequence;
        /// <summary>Queues that took it, and that did not; what was dropped is counted where it was.</summary>
        public readonly int Taken, Dropped;

        internal Published(NativePublished native)
        {
            Sequence = native.Sequence;
            Taken = (int)native.Taken;
            Dropped = (int)native.Dropped;
        }
    }
}
