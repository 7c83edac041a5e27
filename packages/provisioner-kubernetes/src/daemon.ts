/** The engine on the command line of the daemon's program. */
import { StartError } from "@atelier/core/platform"
import { DaemonEngine } from "@atelier/provisioner/daemon"
import { Effect, Layer } from "effect"
import * as KubernetesProvisioner from "./KubernetesProvisioner.js"
import { optionsWithFile } from "./OptionsFile.js"

/** Jobs do not tell a daemon their organization. Without a refusal, all workspaces would be in the one namespace. */
const noNamespaces = new StartError({
  option: "kubernetes.namespaces",
  reason: "cannot be used by a provisioner daemon: run a daemon for each organization, and name its namespace in kubernetes.namespace"
})

export const engine = DaemonEngine.make({
  name: "kubernetes",
  options: {
    kubeconfig: {
      type: "file",
      value: "FILE",
      description: "the kubeconfig; by default KUBECONFIG, ~/.kube/config or the Pod's own account"
    },
    context: { type: "text", value: "NAME", description: "a context of the kubeconfig in place of its current one" },
    namespace: { type: "text", value: "NAME", description: "the namespace of the workspaces; by default that of the context" },
    deployment: { type: "text", value: "NAME", description: "tells these Pods from those of another service; default by default" },
    "agent-url": { type: "text", value: "URL", description: "where Pods reach the server" },
    "runtime-image": { type: "text", value: "IMAGE", description: "the image with the agent and its Node" },
    "storage-class": { type: "text", value: "NAME", description: "of volumes; the cluster's own by default" },
    "options-file": { type: "file", value: "FILE", description: "a YAML file with further options of the engine" }
  },
  layer: ({ environmentPrefix, options: { "options-file": file, ...options } }) =>
    optionsWithFile(file, {
      kubeconfig: options.kubeconfig,
      context: options.context,
      namespace: options.namespace,
      deployment: options.deployment,
      agentUrl: options["agent-url"],
      runtimeImage: options["runtime-image"],
      storageClass: options["storage-class"],
      environmentPrefix
    }).pipe(
      Effect.filterOrFail(
        ({ namespaces }) => namespaces === undefined,
        () => noNamespaces
      ),
      Effect.map(KubernetesProvisioner.layer),
      Layer.unwrapEffect
    )
})
