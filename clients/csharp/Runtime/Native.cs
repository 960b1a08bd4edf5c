using System;
using System.Runtime.InteropServices;

namespace Hyphos
{
#if !UNITY_5_3_OR_NEWER
    /// <summary>Unity defines its own attribute. IL2CPP uses it to find methods that native code
    /// may call.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        public MonoPInvokeCallbackAttribute(Type type) { }
    }
#endif

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeBytes
    {
        public IntPtr Data;
        public ulong Size;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeMessage
    {
        public const int MaxBuffers = 8;
        public NativeBytes Payload;
        public NativeBytes Buffer0, Buffer1, Buffer2, Buffer3, Buffer4, Buffer5, Buffer6, Buffer7;
        public uint BufferCount;
        public int Replayed;
        public ulong Sequence;
        public ulong Sender;
        public long PublishedNs;
        public long ArrivedNs;
        public IntPtr Block;

        public static NativeBytes Buffer(NativeMessage* message, int index)
        {
            return (&message->Buffer0)[index];
        }
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeLoan
    {
        public IntPtr Data;
        public ulong Size;
        public IntPtr Owner;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativePublished
    {
        public ulong Sequence;
        public uint Taken;
        public uint Dropped;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeError
    {
        public int Code;
        public fixed byte Message[1020];
        public fixed byte Where[512];
        public fixed byte Advice[256];
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeType
    {
        public IntPtr Name;
        public ulong Bytes;
        public int Encoding;
        public int Reserved;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativePolicy
    {
        public ulong StructSize;
        public int Reliability;
        public int Overflow;
        public int Priority;
        public int Latched;
        public uint Depth;
        public uint Reserved;
        public long DeadlineMs;
        public long BlockTimeoutMs;
        public long LifespanMs;
        public uint LatchedDepth;
        public uint Reserved2;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeNodeOptions
    {
        public ulong StructSize;
        public IntPtr PlanFile, Process, Domain, Overrides;
        public ulong OverrideCount;
        public int Threads, Offline;
    }

    /// <summary>Options of publishers and of subscriptions. `First` and `Second` are `local` and
    /// `reserved` for a publisher, `mode` and `local` for a subscription.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeEndOptions
    {
        public ulong StructSize;
        public IntPtr Policy;
        public int First, Second;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeServiceOptions
    {
        public ulong StructSize;
        public int Mode, Local;
        public uint Depth, MaxPending;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeActionTypes
    {
        public NativeType Goal, Feedback, Result;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeActionOptions
    {
        public ulong StructSize;
        public int Mode, Policy, Local;
        public uint Depth;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeGoalCallbacks
    {
        public ulong StructSize;
        public IntPtr Feedback, Result, User;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeValue
    {
        public int Type;
        public int Boolean;
        public long Integer;
        public double Real;
        public IntPtr Text;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeParamOptions
    {
        public ulong StructSize;
        public IntPtr Unit, Description;
        public double Least, Most;
        public int ReadOnly, Reserved;
    }

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal unsafe delegate void MessageCallback(IntPtr user, NativeMessage* message);
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal unsafe delegate void RequestCallback(IntPtr user, IntPtr request, NativeMessage* message);
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal unsafe delegate void ReplyCallback(IntPtr user, NativeMessage* reply, NativeError* error);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal unsafe delegate void FeedbackCallback(IntPtr user, NativeMessage* feedback);
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal unsafe delegate void ResultCallback(IntPtr user, int state, NativeMessage* result, NativeError* error);

    /// <summary>The functions of libhyphos_c. See hyphos_c.h. No argument is marshalled, so no call
    /// allocates.</summary>
    internal static unsafe class Native
    {
        public const int Abi = 1;
        private const string Library = "hyphos_c";
        private const CallingConvention Call = CallingConvention.Cdecl;

        [DllImport(Library, CallingConvention = Call)] public static extern int hyphos_abi();
        [DllImport(Library, CallingConvention = Call)] public static extern IntPtr hyphos_version();

        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_message_hold(NativeMessage* message, NativeMessage* held, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern void hyphos_message_release(NativeMessage* message);

        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_node_open(byte* name, NativeNodeOptions* options, IntPtr* node, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_node_open_args(byte* name, int argc, IntPtr* argv, IntPtr* node, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_node_close(IntPtr node);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_node_ready(IntPtr node, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern long hyphos_now(IntPtr node);
        [DllImport(Library, CallingConvention = Call)] public static extern long hyphos_monotonic_now();
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_announce_types(IntPtr node, byte* descriptors, UIntPtr size,
                                                       NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_log(IntPtr node, int level, byte* text, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_poll(IntPtr node, long timeoutNs, uint most, uint* ran, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_wake(IntPtr node);

        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_publisher_open(IntPtr node, byte* channel, NativeType* type,
            NativeEndOptions* options, IntPtr* publisher, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_publisher_close(IntPtr publisher);
        [DllImport(Library, CallingConvention = Call)] public static extern uint hyphos_publisher_listeners(IntPtr publisher);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_publish(IntPtr publisher, void* payload, UIntPtr size, NativeBytes* buffers,
            UIntPtr bufferCount, NativePublished* published, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_publish_message(IntPtr publisher, NativeMessage* message,
            NativePublished* published, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_loan_bytes(IntPtr publisher, UIntPtr size, NativeLoan* loan, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_loan_drop(NativeLoan* loan);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_publish_loan(IntPtr publisher, NativeLoan* loan, UIntPtr size,
            NativePublished* published, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_publish_attached(IntPtr publisher, void* head, UIntPtr size, NativeLoan* loans,
            UIntPtr loanCount, NativePublished* published, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_publisher_counter(IntPtr publisher, byte* name, ulong* value, NativeError* error);

        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_subscribe(IntPtr node, byte* channel, NativeType* type,
            NativeEndOptions* options, IntPtr callback, IntPtr user, IntPtr* subscription, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_subscription_close(IntPtr subscription);
        [DllImport(Library, CallingConvention = Call)] public static extern uint hyphos_subscription_publishers(IntPtr subscription);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_subscription_counter(IntPtr subscription, byte* name, ulong* value, NativeError* error);

        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_serve(IntPtr node, byte* name, NativeType* request, NativeType* reply,
            NativeServiceOptions* options, IntPtr callback, IntPtr user, IntPtr* service, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_service_close(IntPtr service);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_reply(IntPtr request, void* payload, UIntPtr size, NativeBytes* buffers,
            UIntPtr bufferCount, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_refuse(IntPtr request, int code, byte* message, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_request_drop(IntPtr request);
        [DllImport(Library, CallingConvention = Call)] public static extern int hyphos_request_canceled(IntPtr request);

        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_client_open(IntPtr node, byte* name, NativeType* request, NativeType* reply,
            void* options, IntPtr* client, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_client_close(IntPtr client);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_client_wait(IntPtr client, long timeoutNs, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_call(IntPtr client, void* payload, UIntPtr size, NativeBytes* buffers,
            UIntPtr bufferCount, long timeoutNs, NativeMessage* reply, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_call_async(IntPtr client, void* payload, UIntPtr size, NativeBytes* buffers,
            UIntPtr bufferCount, long timeoutNs, IntPtr callback, IntPtr user, NativeError* error);

        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_action_serve(IntPtr node, byte* name, NativeActionTypes* types,
            NativeActionOptions* options, IntPtr callback, IntPtr user, IntPtr* action, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_action_close(IntPtr action);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_goal_feedback(IntPtr goal, void* payload, UIntPtr size, NativeBytes* buffers,
            UIntPtr bufferCount, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_goal_finish(IntPtr goal, int state, void* payload, UIntPtr size,
            NativeBytes* buffers, UIntPtr bufferCount, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_goal_fail(IntPtr goal, int code, byte* message, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_goal_drop(IntPtr goal);
        [DllImport(Library, CallingConvention = Call)] public static extern int hyphos_goal_cancel_requested(IntPtr goal);

        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_action_client_open(IntPtr node, byte* name, NativeActionTypes* types,
            void* options, IntPtr* client, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_action_client_close(IntPtr client);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_action_client_wait(IntPtr client, long timeoutNs, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_goal_send(IntPtr client, void* payload, UIntPtr size, NativeBytes* buffers,
            UIntPtr bufferCount, long acceptTimeoutNs, NativeGoalCallbacks* callbacks, IntPtr* goal, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_sent_goal_cancel(IntPtr goal, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern int hyphos_sent_goal_state(IntPtr goal);
        [DllImport(Library, CallingConvention = Call)]
        public static extern ulong hyphos_sent_goal_feedback_dropped(IntPtr goal);
        [DllImport(Library, CallingConvention = Call)] public static extern void hyphos_sent_goal_release(IntPtr goal);

        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_param_declare(IntPtr node, byte* name, NativeValue* standard,
            NativeParamOptions* options, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_param_get(IntPtr node, byte* name, NativeValue* value, byte* text,
            UIntPtr capacity, NativeError* error);
        [DllImport(Library, CallingConvention = Call)]
        public static extern int hyphos_param_set(IntPtr node, byte* name, NativeValue* value, NativeError* error);
        [DllImport(Library, CallingConvention = Call)] public static extern ulong hyphos_params_version(IntPtr node);
    }
}
