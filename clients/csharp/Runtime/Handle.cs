using System;
using System.Threading;

namespace Hyphos
{
    /// <summary>A handle of the library and its end. Any thread may use it and dispose of it at any time: it
    /// ends when the last call that is under way has returned, and later ones throw.</summary>
    public abstract class Handle : IDisposable
    {
        private IntPtr value_;
        // The owner's and one of each call that is under way; 0: ended, and never more than that again.
        private int uses_;
        private int owned_;
        private readonly object ending_ = new object();

        ~Handle() { Dispose(false); }

        /// <summary>Harmless if it is done already.</summary>
        public void Dispose()
        {
            Dispose(true);
            GC.SuppressFinalize(this);
        }

        public bool IsDisposed { get { return Volatile.Read(ref owned_) == 0; } }

        /// <summary>Keeps the handle for one call: `using (Lease self = Use())`.</summary>
        internal Lease Use()
        {
            for (int seen; (seen = Volatile.Read(ref uses_)) > 0 && !IsDisposed;)
            {
                if (Interlocked.CompareExchange(ref uses_, seen + 1, seen) == seen) return new Lease(this, value_);
            }
            throw new ObjectDisposedException(GetType().Name);
        }

        internal void Leave()
        {
            int left = Interlocked.Decrement(ref uses_);
            if (left > 0)
            {
                if (left == 1 && IsDisposed) WakeDisowner();
                return;
            }
            IntPtr value = Interlocked.Exchange(ref value_, IntPtr.Zero);
            if (value != IntPtr.Zero) Close(value);
        }

        internal void Own(IntPtr value)
        {
            value_ = value;
            uses_ = 1;
            Volatile.Write(ref owned_, 1);
        }

        /// <summary>Gives the handle away to who ends it, once the calls that are under way have returned; zero
        /// if that was done.</summary>
        internal IntPtr Disown()
        {
            if (Interlocked.Exchange(ref owned_, 0) == 0) return IntPtr.Zero;
            // The owner's use is kept until it is the only one, so that nobody closes meanwhile; a call that saw
            // the handle owned may still begin until then.
            lock (ending_)
            {
                while (Interlocked.CompareExchange(ref uses_, 0, 1) != 1) Monitor.Wait(ending_);
            }
            return Interlocked.Exchange(ref value_, IntPtr.Zero);
        }

        private void WakeDisowner()
        {
            lock (ending_) Monitor.PulseAll(ending_);
        }

        internal abstract void Close(IntPtr value);

        /// <summary>Throws if it cannot be disposed of here.</summary>
        internal virtual void BeforeDispose() { }

        private void Dispose(bool explicitly)
        {
            if (explicitly && !IsDisposed) BeforeDispose();
            if (Interlocked.Exchange(ref owned_, 0) == 1) Leave();
        }
    }

    /// <summary>A handle in the hands of one call.</summary>
    internal struct Lease : IDisposable
    {
        private readonly Handle handle_;
        public readonly IntPtr Value;

        public Lease(Handle handle, IntPtr value)
        {
            handle_ = handle;
            Value = value;
        }

        public void Dispose() { handle_.Leave(); }
    }
}
