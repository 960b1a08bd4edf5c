using System;
using System.Runtime.InteropServices;
#if UNITY_5_3_OR_NEWER
using AOT;
#endif

namespace Hyphos
{
    /// <summary>A service or an action of this program.</summary>
    internal interface IReceiver
    {
        /// <summary>Gets a request or a goal, and owns its native handle.</summary>
        void Receive(IntPtr handle, MessageView message);
        void Failed(Exception exception);
    }

    /// <summary>The callback that native code calls with requests and goals. `user` is a GCHandle of
    /// an IReceiver.</summary>
    internal static unsafe class Incoming
    {
        // Native code keeps the address, so the delegate must live as long as the program.
        private static readonly RequestCallback callback_ = OnRequest;
        internal static readonly IntPtr Address = Marshal.GetFunctionPointerForDelegate(callback_);

        [MonoPInvokeCallback(typeof(RequestCallback))]
        private static void OnRequest(IntPtr user, IntPtr handle, NativeMessage* message)
        {
            // No exception may pass into native code.
            IReceiver receiver = null;
            Delivery delivery = new Delivery();
            try
            {
                receiver = (IReceiver)GCHandle.FromIntPtr(user).Target;
                Node.EnterCallback();
                try { receiver.Receive(handle, delivery.Begin(message)); }
                finally
                {
                    delivery.End();
                    Node.LeaveCallback();
                }
            }
            catch (Exception exception)
            {
                if (receiver != null) receiver.Failed(exception);
            }
        }
    }
}
