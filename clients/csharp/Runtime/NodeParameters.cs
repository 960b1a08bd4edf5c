using System;

namespace Hyphos
{
    /// <summary>The description of a parameter. Each field may keep its default.</summary>
    public sealed class ParameterOptions
    {
        public string Unit = "";
        public string Description = "";
        /// <summary>Limits of a number. Both 0: no limits.</summary>
        public double Least, Most;
        public bool ReadOnly;
    }

    public sealed unsafe partial class Node
    {
        // The largest text value with its terminating zero.
        private const int TextRoom = 64 * 1024 + 1;

        public void DeclareParameter(string name, bool standard, ParameterOptions options = null)
        {
            Declare(name, Value_(standard), null, options);
        }
        public void DeclareParameter(string name, long standard, ParameterOptions options = null)
        {
            Declare(name, Value_(standard), null, options);
        }
        public void DeclareParameter(string name, double standard, ParameterOptions options = null)
        {
            Declare(name, Value_(standard), null, options);
        }
        public void DeclareParameter(string name, string standard, ParameterOptions options = null)
        {
            Declare(name, new NativeValue(), standard, options);
        }

        public bool BoolParameter(string name) { return Get(name, 0).Boolean != 0; }
        public long IntParameter(string name) { return Get(name, 1).Integer; }
        public double RealParameter(string name) { return Get(name, 2).Real; }
        public string TextParameter(string name)
        {
            byte[] room = new byte[TextRoom];
            fixed (byte* text = room)
            {
                Get(name, 3, text);
                return Text.Read(text);
            }
        }

        public void SetParameter(string name, bool value) { Set(name, Value_(value), null); }
        public void SetParameter(string name, long value) { Set(name, Value_(value), null); }
        public void SetParameter(string name, double value) { Set(name, Value_(value), null); }
        public void SetParameter(string name, string value) { Set(name, new NativeValue(), value); }

        /// <summary>Increases with every change of a parameter, from any source.</summary>
        public ulong ParametersVersion { get { using (Lease self = Use()) return Native.hyphos_params_version(self.Value); } }

        private static NativeValue Value_(bool value)
        {
            NativeValue native = new NativeValue();
            native.Boolean = value ? 1 : 0;
            return native;
        }
        private static NativeValue Value_(long value)
        {
            NativeValue native = new NativeValue();
            native.Type = 1;
            native.Integer = value;
            return native;
        }
        private static NativeValue Value_(double value)
        {
            NativeValue native = new NativeValue();
            native.Type = 2;
            native.Real = value;
            return native;
        }

        private void Declare(string name, NativeValue value, string text, ParameterOptions options)
        {
            if (options == null) options = new ParameterOptions();
            NativeParamOptions native = new NativeParamOptions();
            native.StructSize = (ulong)sizeof(NativeParamOptions);
            native.Least = options.Least;
            native.Most = options.Most;
            native.ReadOnly = options.ReadOnly ? 1 : 0;
            using (Lease self = Use())
            fixed (byte* key = Text.Utf8(name), words = Text.Utf8(text ?? ""), unit = Text.Utf8(options.Unit),
                   description = Text.Utf8(options.Description))
            {
                native.Unit = (IntPtr)unit;
                native.Description = (IntPtr)description;
                if (text != null) Fill(ref value, words);
                NativeError error;
                HyphosException.Check(Native.hyphos_param_declare(self.Value, key, &value, &native, &error), &error);
            }
        }

        private void Set(string name, NativeValue value, string text)
        {
            using (Lease self = Use())
            fixed (byte* key = Text.Utf8(name), words = Text.Utf8(text ?? ""))
            {
                if (text != null) Fill(ref value, words);
                NativeError error;
                HyphosException.Check(Native.hyphos_param_set(self.Value, key, &value, &error), &error);
            }
        }

        private static void Fill(ref NativeValue value, byte* words)
        {
            value.Type = 3;
            value.Text = (IntPtr)words;
        }

        private NativeValue Get(string name, int type, byte* text = null)
        {
            using (Lease self = Use())
            fixed (byte* key = Text.Utf8(name))
            {
                NativeValue value;
                NativeError error;
                UIntPtr room = (UIntPtr)(text == null ? 0 : TextRoom);
                HyphosException.Check(Native.hyphos_param_get(self.Value, key, &value, text, room, &error), &error);
                if (value.Type == type) return value;
            }
            string[] names = { "a boolean", "an integer", "a real number", "text" };
            throw new HyphosException(ErrorCode.TypeMismatch, "parameter '" + name + "' is not " + names[type], Name);
        }
    }
}
