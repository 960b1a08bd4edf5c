using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.InteropServices;
using Hyphos;

/// Reads lines `TYPE BASE64`. Decodes and encodes each message in C#, and writes the result.
internal static unsafe class Conversions
{
    private static readonly Dictionary<string, IMessage> known_ = new Dictionary<string, IMessage>();

    static Conversions()
    {
        foreach (Type type in Assembly.GetExecutingAssembly().GetTypes())
        {
            if (!typeof(IMessage).IsAssignableFrom(type) || type.IsInterface) continue;
            IMessage message = (IMessage)Activator.CreateInstance(type);
            known_[message.TypeName] = message;
        }
    }

    public static int Run()
    {
        for (string line; (line = Console.ReadLine()) != null;)
        {
            int space = line.IndexOf(' ');
            // One object for all messages of a type.
            IMessage message = known_[line.Substring(0, space)];
            byte[] bytes = Convert.FromBase64String(line.Substring(space + 1));
            Console.WriteLine(Wire.FromArray(message, bytes) ? Convert.ToBase64String(Wire.ToArray(message)) : "corrupt");
        }
        return 0;
    }

    /// Reads the same lines. Cuts and changes each message at random places, and puts it directly
    /// before an inaccessible page. A read beyond the end crashes the program.
    public static int Damage()
    {
        const int Room = 1 << 20;
        byte* memory = mmap(null, (UIntPtr)(Room + 4096), 1 | 2, 2 | 0x20, -1, IntPtr.Zero);
        if (mprotect(memory + Room, (UIntPtr)4096, 0) != 0) return 3;
        Random random = new Random(7);
        int good = 0, bad = 0;
        for (string line; (line = Console.ReadLine()) != null;)
        {
            int space = line.IndexOf(' ');
            IMessage message = known_[line.Substring(0, space)];
            byte[] bytes = Convert.FromBase64String(line.Substring(space + 1));
            for (int round = 0; round < 200; ++round)
            {
                int size = round % 2 == 0 ? bytes.Length : random.Next(bytes.Length + 1);
                byte* at = memory + Room - size;
                Marshal.Copy(bytes, 0, (IntPtr)at, size);
                for (int i = 0; i < 1 + round % 4 && size > 0; ++i) at[random.Next(size)] = (byte)random.Next(256);
                if (Wire.Read(message, at, size)) ++good;
                else ++bad;
            }
        }
        Console.WriteLine(good + " " + bad);
        return 0;
    }

    [DllImport("libc")]
    private static extern byte* mmap(void* at, UIntPtr length, int protection, int flags, int fd, IntPtr offset);
    [DllImport("libc")]
    private static extern int mprotect(void* at, UIntPtr length, int protection);
}
