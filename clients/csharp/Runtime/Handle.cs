using System;
using System.Threading;

namespace Hyphos
{
    /// <summary>Owns a handle of the library. Any thread may use and dispose of it at any time. The
    /// native handle closes after the last call in flight has returned. Later calls
    /// throw.</summary>
    public abstract class Handle : IDisposable
    {
        private IntPtr value_;
        // One use for the owner, and one for each call in flight. 0 means closed, and stays 0.
        private int uses_;
        private int owned_;
        private readonly object ending_ = new object();

        ~Handle() { Dispose(false); }

        /// <summary>Has no effect after the first call.</summary>
        public void Dispose()
        {
            Dispose(true);
            GC.SuppressFinalize(this);
        }

        public bool IsDisposed { get { return Volatile.Read(ref owned_) == 0; } }

        /// <summary>Keeps the handle open during one call: `using (Lease self = Use())`.</summary>
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

        /// <summary>Waits for the calls in flight, then passes the native handle to the caller,
        /// which must end it. Zero if the handle was disposed of or disowned before.</summary>
        internal IntPtr Disown()
        {
            if (Interlocked.Exchange(ref owned_, 0) == 0) return IntPtr.Zero;
            // The use of the owner stays until it is the only one, so that no other thread closes
            // the handle meanwhile. Until then, a call that saw the handle as owned may still
            // begin.
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

        /// <summary>Throws if the handle must not be disposed of here.</summary>
        internal virtual void BeforeDispose() { }

        private void Dispose(bool explicitly)
        {
            if (explicitly && !IsDisposed) BeforeDispose();
            if (Interlocked.Exchange(ref owned_, 0) == 1) Leave();
        }
    }

    /// <summary>The use of a handle by one call.</summary>
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
