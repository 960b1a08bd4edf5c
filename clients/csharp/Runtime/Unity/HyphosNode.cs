#if UNITY_5_3_OR_NEWER
using System;
using UnityEngine;

namespace Hyphos
{
    /// <summary>One node for a scene. It opens in Awake() and runs callbacks on Unity's main thread
    /// in every frame. It closes with the object, at the end of Play mode and before a script
    /// reload.
    ///
    /// Other scripts get the node in their Start():
    /// `FindObjectOfType&lt;HyphosNode&gt;().Node`.</summary>
    [DefaultExecutionOrder(-1000)]
    public sealed class HyphosNode : MonoBehaviour
    {
        public string NodeName = "unity";
        [Tooltip("Separates robots on one machine. Empty: the default.")]
        public string Domain = "";
        [Tooltip("The path of robot.yaml. Empty: no plan.")]
        public string PlanFile = "";
        [Tooltip("The maximum number of callbacks per frame. 0: no limit.")]
        public int MostPerFrame = 0;

        private Hyphos.Node node_;

        public Hyphos.Node Node { get { return node_ ?? (node_ = Open()); } }

        private void Awake() { node_ = Node; }

        private void Update() { if (node_ != null) node_.Pump(MostPerFrame); }

        private void OnDestroy() { Close(); }
        private void OnApplicationQuit() { Close(); }

        private Hyphos.Node Open()
        {
            NodeOptions options = new NodeOptions();
            options.Domain = Domain;
            options.PlanFile = PlanFile;
            Hyphos.Node opened = Hyphos.Node.Open(NodeName, options);
#if UNITY_EDITOR
            UnityEditor.AssemblyReloadEvents.beforeAssemblyReload += Close;
#endif
            return opened;
        }

        private void Close()
        {
#if UNITY_EDITOR
            UnityEditor.AssemblyReloadEvents.beforeAssemblyReload -= Close;
#endif
            Hyphos.Node node = node_;
            node_ = null;
            if (node != null) node.Dispose();
        }
    }
}
#endif
