using System;
using System.Text;

namespace Hyphos
{
    /// <summary>The kind of an error, with the same names as in C++ and Python.</summary>
    public enum ErrorCode
    {
        Ok = 0,
        InvalidConfig = 1,
        NotFound = 2,
        AlreadyExists = 3,
        TypeMismatch = 4,
        Timeout = 5,
        Overloaded = 6,
        Disconnected = 7,
        Exhausted = 8,
        Permission = 9,
        Corrupt = 10,
        Unsupported = 11,
        Io = 12,
        Canceled = 13,
        OutOfRange = 14,
        TooLarge = 15
    }

    /// <summary>An error with its cause, its location, and the remedy.</summary>
    public sealed class HyphosException : Exception
    {
        // The spelling of C++, Python and the command line. Enum.ToString() is not used: in mono it
        // raises another error in a thread that is aborted at the end of a program.
        private static readonly string[] words_ =
        {
            "ok", "invalid_config", "not_found", "already_exists", "type_mismatch", "timeout", "overloaded",
            "disconnected", "exhausted", "permission", "corrupt", "unsupported", "io", "canceled", "out_of_range",
            "too_large"
        };

        public HyphosException(ErrorCode code, string what, string where = "", string advice = "")
            : base((where.Length > 0 ? where + ": " : "") + what + " [" + Word(code) + "]" +
                   (advice.Length > 0 ? "; " + advice : ""))
        {
            Code = code;
            What = what;
            Where = where;
            Advice = advice;
        }

        public ErrorCode Code { get; private set; }
        public string What { get; private set; }
        public string Where { get; private set; }
        public string Advice { get; private set; }

        private static string Word(ErrorCode code)
        {
            return (uint)code < (uint)words_.Length ? words_[(int)code] : "unknown";
        }

        internal static unsafe HyphosException From(NativeError* error)
        {
            return new HyphosException((ErrorCode)error->Code, Text.Read(error->Message),
                                       Text.Read(error->Where), Text.Read(error->Advice));
        }

        internal static unsafe void Check(int code, NativeError* error)
        {
            if (code != 0) throw From(error);
        }
    }

    /// <summary>Conversion from and to zero-terminated UTF-8. Allocates, so it is only for set-up
    /// and errors.</summary>
    internal static unsafe class Text
    {
        public static byte[] Utf8(string text)
        {
            if (text == null) throw new ArgumentNullException("text");
            return Encoding.UTF8.GetBytes(text + "\0");
        }

        public static string Read(byte* text)
        {
            int size = 0;
            while (text[size] != 0) ++size;
            return size == 0 ? "" : Encoding.UTF8.GetString(text, size);
        }
    }
}
