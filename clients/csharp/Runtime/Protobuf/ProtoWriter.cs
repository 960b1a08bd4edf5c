using System;

namespace Hyphos
{
    /// <summary>Writes protobuf into memory of a known size. A value that does not fit is not
    /// written, and Exact is then false.</summary>
    public unsafe struct ProtoWriter
    {
        private byte* at_;
        private readonly byte* end_;
        private bool over_;

        public ProtoWriter(byte* at, int size)
        {
            at_ = at;
            end_ = at + size;
            over_ = false;
        }

        /// <summary>True if all values fitted and filled the memory exactly.</summary>
        public bool Exact { get { return !over_ && at_ == end_; } }

        public void Varint(ulong value)
        {
            while (value >= 0x80)
            {
                Byte((byte)(value | 0x80));
                value >>= 7;
            }
            Byte((byte)value);
        }

        public void Fixed32(uint value) { if (Room(4)) { *(uint*)at_ = value; at_ += 4; } }
        public void Fixed64(ulong value) { if (Room(8)) { *(ulong*)at_ = value; at_ += 8; } }
        public void Float(float value) { Fixed32(*(uint*)&value); }
        public void Double(double value) { Fixed64(*(ulong*)&value); }

        public void Bytes(Repeated<byte> bytes)
        {
            Varint((ulong)bytes.Count);
            fixed (byte* from = bytes.Items) Copy(from, bytes.Count);
        }

        public void Text(string text)
        {
            int size = ProtoSize.Utf8(text);
            Varint((ulong)size);
            if (!Room(size) || size == 0) return;
            fixed (char* from = text) System.Text.Encoding.UTF8.GetBytes(from, text.Length, at_, size);
            at_ += size;
        }

        public void Message(IMessage message, int size)
        {
            Varint((ulong)size);
            message.Write(ref this);
        }

        public void Packed(Repeated<float> values) { fixed (float* from = values.Items) Copy(from, 4L * values.Count); }
        public void Packed(Repeated<double> values) { fixed (double* from = values.Items) Copy(from, 8L * values.Count); }
        public void PackedFixed(Repeated<uint> values) { fixed (uint* from = values.Items) Copy(from, 4L * values.Count); }
        public void PackedFixed(Repeated<int> values) { fixed (int* from = values.Items) Copy(from, 4L * values.Count); }
        public void PackedFixed(Repeated<ulong> values) { fixed (ulong* from = values.Items) Copy(from, 8L * values.Count); }
        public void PackedFixed(Repeated<long> values) { fixed (long* from = values.Items) Copy(from, 8L * values.Count); }

        private void Byte(byte value)
        {
            if (Room(1)) *at_++ = value;
        }

        // Little endian, as on every machine that runs .NET.
        private void Copy(void* from, long size)
        {
            if (size == 0 || !Room(size)) return;
            System.Buffer.MemoryCopy(from, at_, end_ - at_, size);
            at_ += size;
        }

        private bool Room(long size)
        {
            if (size <= end_ - at_) return true;
            over_ = true;
            return false;
        }
    }

    /// <summary>Encoded sizes of values in bytes.</summary>
    public static class ProtoSize
    {
        public static int Varint(ulong value)
        {
            int size = 1;
            while (value >= 0x80)
            {
                value >>= 7;
                ++size;
            }
            return size;
        }

        /// <summary>The size of a length prefix plus its content.</summary>
        public static int Prefixed(int size) { return Varint((ulong)size) + size; }

        public static int Utf8(string text)
        {
            return string.IsNullOrEmpty(text) ? 0 : System.Text.Encoding.UTF8.GetByteCount(text);
        }

        /// <summary>False for -0, which must be encoded.</summary>
        public static unsafe bool IsZero(float value) { return *(uint*)&value == 0; }
        public static unsafe bool IsZero(double value) { return *(ulong*)&value == 0; }

        public static ulong ZigZag(long value) { return (ulong)((value << 1) ^ (value >> 63)); }
    }
}
