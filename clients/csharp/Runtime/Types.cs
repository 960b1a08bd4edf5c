using System;

namespace Hyphos
{
    /// <summary>The encoding of the messages of a channel.</summary>
    public enum ChannelEncoding
    {
        Structure = 0,
        Bytes = 1,
        Protobuf = 2,
        Attached = 3,
        Custom = 4
    }

    /// <summary>The type of a channel. Both sides of a channel must use the same type.</summary>
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

        /// <summary>Raw bytes. Hyphos does not interpret them.</summary>
        public static ChannelType Bytes { get { return new ChannelType("bytes", ChannelEncoding.Bytes, 0); } }
        public static ChannelType Protobuf(string name) { return new ChannelType(name, ChannelEncoding.Protobuf, 0); }
        /// <summary>A protobuf head with attached buffers: images, clouds.</summary>
        public static ChannelType Attached(string head) { return new ChannelType(head, ChannelEncoding.Attached, 0); }
        /// <summary>The bytes of a struct without references. The name is that of the C++
        /// struct.</summary>
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

    /// <summary>The thread that runs the callbacks of a subscription or a service.</summary>
    public enum Mode
    {
        /// <summary>The thread that calls Node.Pump(). In Unity, this is the main thread.</summary>
        Pump = 0,
        /// <summary>A thread of Hyphos, one callback at a time.</summary>
        Thread = 1,
        /// <summary>The delivering thread, for the lowest latency. The callback must be short and
        /// must not block.</summary>
        Inline = 3
    }

    public enum Reliability { BestEffort = 0, Reliable = 1 }
    public enum Overflow { Implied = 0, DropOldest = 1, DropNewest = 2, Block = 3 }
    public enum Priority { Normal = 0, Low = 1, High = 2 }

    /// <summary>The guarantees of a channel that the plan does not name.</summary>
    public sealed class Policy
    {
        public Reliability Reliability;
        public Overflow Overflow;
        public Priority Priority;
        /// <summary>A late subscriber gets the last message at once.</summary>
        public bool Latched;
        /// <summary>The capacity of each queue in messages.</summary>
        public int Depth = 10;
        public long DeadlineMs;
        public long BlockTimeoutMs;
        /// <summary>An older message is dropped before its callback. 0: no limit.</summary>
        public long LifespanMs;
        /// <summary>With Latched: the number of messages of each publisher.</summary>
        public int LatchedDepth = 1;

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
            native.LifespanMs = policy.LifespanMs;
            native.LatchedDepth = policy.LatchedDepth > 1 ? (uint)policy.LatchedDepth : 0;
            return native;
        }
    }

    /// <summary>The outcome of a publish.</summary>
    public struct Published
    {
        public readonly ulong Sequence;
        /// <summary>The number of queues that accepted the message, and that dropped it. Each drop
        /// is counted where it happened.</summary>
        public readonly int Taken, Dropped;

        internal Published(NativePublished native)
        {
            Sequence = native.Sequence;
            Taken = (int)native.Taken;
            Dropped = (int)native.Dropped;
        }
    }
}
