using System;

namespace Hyphos
{
    /// <summary>Reads protobuf from untrusted memory. It never reads outside its range. After a
    /// fault, Failed is true and the reader is at its end.</summary>
    public unsafe struct ProtoReader
    {
        private const int MaxDepth = 100;

        private byte* at_;
        private byte* end_;
        private int depth_;
        private uint tag_;

        public ProtoReader(byte* at, long size)
        {
            at_ = at;
            end_ = at + size;
            depth_ = 0;
            tag_ = 0;
            Failed = false;
        }

        public bool Failed { get; private set; }

        /// <summary>Reads the tag of the next field: its number times eight, plus its wire type.
        /// Returns false at the end.</summary>
        public bool Next(out uint tag)
        {
            tag = tag_ = 0;
            if (at_ >= end_) return false;
            ulong value = Varint();
            if (value >> 3 == 0 || value > uint.MaxValue) Fail();
            if (Failed) return false;
            tag = tag_ = (uint)value;
            return true;
        }

        public ulong Varint()
        {
            ulong value = 0;
            for (int shift = 0; shift < 70 && at_ < end_; shift += 7)
            {
                byte next = *at_++;
                value |= (ulong)(next & 0x7F) << shift;
                if (next < 0x80) return value;
            }
            Fail();
            return 0;
        }

        public long ZigZag()
        {
            ulong value = Varint();
            return (long)(value >> 1) ^ -(long)(value & 1);
        }

        public uint Fixed32()
        {
            if (!Room(4)) return 0;
            uint value = *(uint*)at_;
            at_ += 4;
            return value;
        }

        public ulong Fixed64()
        {
            if (!Room(8)) return 0;
            ulong value = *(ulong*)at_;
            at_ += 8;
            return value;
        }

        public float Float()
        {
            uint value = Fixed32();
            return *(float*)&value;
        }

        public double Double()
        {
            ulong value = Fixed64();
            return *(double*)&value;
        }

        /// <summary>Returns `before` if the text is the same. Frame names seldom change, and a new
        /// string would be garbage.</summary>
        public string Text(string before)
        {
            int size = Length();
            byte* from = at_;
            at_ += size;
            if (size == 0) return "";
            if (before != null && Same(before, from, size)) return before;
            return System.Text.Encoding.UTF8.GetString(from, size);
        }

        public void Bytes(Repeated<byte> into)
        {
            int size = Length();
            into.Resize(size);
            fixed (byte* to = into.Items) Take(to, size);
        }

        public void Message(IMessage message)
        {
            int size = Length();
            if (Failed) return;
            if (++depth_ > MaxDepth)
            {
                Fail();
                return;
            }
            byte* outer = end_;
            end_ = at_ + size;
            message.Read(ref this);
            --depth_;
            if (!Failed) end_ = outer;
            else at_ = end_;
        }

        /// <summary>Reads the length of a packed field. The caller then reads values while Within()
        /// is true.</summary>
        public long PackedEnd()
        {
            int size = Length();
            return (long)(end_ - at_) - size;
        }
        public bool Within(long packedEnd) { return !Failed && end_ - at_ > packedEnd; }

        public void Packed(Repeated<float> into)
        {
            int size = Elements(4), before = into.Count;
            into.Resize(before + size / 4);
            fixed (float* to = into.Items) Take(to + before, size);
        }
        public void Packed(Repeated<double> into)
        {
            int size = Elements(8), before = into.Count;
            into.Resize(before + size / 8);
            fixed (double* to = into.Items) Take(to + before, size);
        }
        public void PackedFixed(Repeated<uint> into)
        {
            int size = Elements(4), before = into.Count;
            into.Resize(before + size / 4);
            fixed (uint* to = into.Items) Take(to + before, size);
        }
        public void PackedFixed(Repeated<int> into)
        {
            int size = Elements(4), before = into.Count;
            into.Resize(before + size / 4);
            fixed (int* to = into.Items) Take(to + before, size);
        }
        public void PackedFixed(Repeated<ulong> into)
        {
            int size = Elements(8), before = into.Count;
            into.Resize(before + size / 8);
            fixed (ulong* to = into.Items) Take(to + before, size);
        }
        public void PackedFixed(Repeated<long> into)
        {
            int size = Elements(8), before = into.Count;
            into.Resize(before + size / 8);
            fixed (long* to = into.Items) Take(to + before, size);
        }

        /// <summary>Skips an unknown field.</summary>
        public void Skip()
        {
            switch (tag_ & 7)
            {
                case 0: Varint(); break;
                case 1: Fixed64(); break;
                case 2:
                    int size = Length();
                    at_ += size;
                    break;
                case 5: Fixed32(); break;
                default: Fail(); break;
            }
        }

        private int Elements(int size)
        {
            int bytes = Length();
            if (bytes % size != 0) Fail();
            return Failed ? 0 : bytes;
        }

        private int Length()
        {
            ulong size = Varint();
            if (!Failed && size <= (ulong)(end_ - at_) && size <= int.MaxValue) return (int)size;
            Fail();
            return 0;
        }

        private void Take(void* to, int size)
        {
            if (size > 0) System.Buffer.MemoryCopy(at_, to, size, size);
            at_ += size;
        }

        private bool Room(int size)
        {
            if (size <= end_ - at_) return true;
            Fail();
            return false;
        }

        private void Fail()
        {
            Failed = true;
            at_ = end_;
        }

        // Exact for ASCII. Other texts compare as different, so the reader creates a new string.
        private static bool Same(string text, byte* bytes, int size)
        {
            if (text.Length != size) return false;
            for (int i = 0; i < size; ++i)
            {
                if (bytes[i] >= 0x80 || text[i] != bytes[i]) return false;
            }
            return true;
        }
    }
}
