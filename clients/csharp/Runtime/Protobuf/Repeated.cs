using System;

namespace Hyphos
{
    /// <summary>A list that keeps and reuses its array. `Items` may be longer than
    /// `Count`.</summary>
    public sealed class Repeated<T>
    {
        private static readonly T[] none_ = new T[0];

        public T[] Items = none_;
        public int Count;

        public T this[int index]
        {
            get { return Items[Checked(index)]; }
            set { Items[Checked(index)] = value; }
        }

        public void Add(T item)
        {
            Reserve(Count + 1);
            Items[Count++] = item;
        }

        /// <summary>New elements keep their previous content.</summary>
        public void Resize(int count)
        {
            Reserve(count);
            Count = count;
        }

        public void Set(T[] items)
        {
            Resize(items.Length);
            Array.Copy(items, Items, items.Length);
        }

        public T[] ToArray()
        {
            T[] copy = new T[Count];
            Array.Copy(Items, copy, Count);
            return copy;
        }

        public void Clear() { Count = 0; }

        public void Reserve(int room)
        {
            if (room <= Items.Length) return;
            Array.Resize(ref Items, Math.Max(room, Math.Max(4, (int)Math.Min(2L * Items.Length, int.MaxValue))));
        }

        private int Checked(int index)
        {
            if ((uint)index >= (uint)Count) throw new IndexOutOfRangeException();
            return index;
        }
    }

    /// <summary>A list that keeps and reuses its messages.</summary>
    public sealed class RepeatedMessages<T> where T : class, IMessage, new()
    {
        private T[] items_ = new T[0];

        public int Count { get; private set; }

        public T this[int index]
        {
            get
            {
                if ((uint)index >= (uint)Count) throw new IndexOutOfRangeException();
                return items_[index];
            }
        }

        /// <summary>Appends an empty message.</summary>
        public T Add()
        {
            if (Count == items_.Length) Array.Resize(ref items_, Math.Max(4, 2 * Count));
            T item = items_[Count];
            if (item == null) items_[Count] = item = new T();
            else item.Clear();
            ++Count;
            return item;
        }

        public void Clear() { Count = 0; }
    }
}
