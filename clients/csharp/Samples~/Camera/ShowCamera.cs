using Hyphos;
using Hyphos.Msgs;
using UnityEngine;

/// <summary>Shows the images of a channel on the material of this object. Needs a HyphosNode in the
/// scene.</summary>
public sealed class ShowCamera : MonoBehaviour
{
    public string Channel = "image";

    private Texture2D texture_;

    private void Start()
    {
        Policy newest = new Policy();
        newest.Depth = 1;  // Only the last image before each frame matters.
        FindObjectOfType<HyphosNode>().Node.SubscribeAttached<Image>(Channel, Show, Mode.Pump, newest);
    }

    private void Show(Image image, MessageView message)
    {
        if (image.Encoding != "rgb8" || message.BufferCount == 0) return;
        int width = (int)image.Width, height = (int)image.Height;
        if (message.Buffer(0).Length < 3L * width * height) return;
        if (texture_ == null || texture_.width != width || texture_.height != height)
        {
            texture_ = new Texture2D(width, height, TextureFormat.RGB24, false);
            GetComponent<Renderer>().material.mainTexture = texture_;
        }
        // Copies the pixels from shared memory to the texture. This is the only copy. The first row
        // of an image is its top row, but the first row of a texture is its lowest. Flip the object
        // or its texture coordinates.
        texture_.LoadRawTextureData(message.Buffer(0).AsNativeArray<byte>());
        texture_.Apply(false);
    }
}
