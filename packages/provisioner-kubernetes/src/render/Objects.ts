/** What is made beside an agent's Pod: claims of volumes, the Secret of its start, and its network's policy. */
import type { BuildMetadata } from "@atelier/core/provisioning"
import { gzipSync } from "node:zlib"
import type { Manifest } from "../cluster/Resources.js"
import type { ContainerSpec } from "@atelier/provisioner/container"
import type { Settings } from "../Settings.js"
import { agentLabels, agentObject, label, labelValue, nameOf, volumeObject, workspaceLabels } from "./Names.js"
import { volumesOf } from "./Pod.js"
import type { JsonObject } from "./StrategicMerge.js"

/** Bytes of all values of a Secret (the cluster's own bound is 1 MiB). */
export const maximumSecret = 1_000_000

/** The claims of the volumes that outlive a stop. */
export const claimsOf = (
  settings: Settings,
  { workspace_build_id, workspace_id }: Pick<BuildMetadata, "workspace_build_id" | "workspace_id">,
  spec: ContainerSpec
): ReadonlyArray<Manifest & JsonObject> =>
  volumesOf(spec)
    .filter(({ keep }) => keep)
    .map(({ name }) => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        name: volumeObject(workspace_id, spec.agent, name),
        labels: {
          ...workspaceLabels(settings.deployment, workspace_id),
          // The build that has made it, which deletes it again if it fails
          [label.build]: workspace_build_id,
          [label.agent]: nameOf(spec.agent, 63),
          [label.part]: "volume",
          [label.volume]: nameOf(name, 63),
          [label.keep]: "true"
        }
      },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: String(Math.ceil(name === "home" ? (spec.disk ?? settings.disk) : settings.disk)) } },
        ...(settings.options.storageClass === undefined ? {} : { storageClassName: settings.options.storageClass })
      }
    }))

interface SecretInput {
  readonly settings: Settings
  readonly metadata: BuildMetadata
  readonly spec: ContainerSpec
  readonly token: string
  readonly files: Uint8Array | undefined
  readonly pod: JsonObject
}

const encoded = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString("base64")

/**
 * The Secret of a start: the agent's token, the template's files, and the Pod. While it exists the workspace is to run: a Pod that is gone is made of it
 * again, and the cluster deletes what belongs to it with it.
 */
export const secretOf = ({ files, metadata, pod, settings, spec, token }: SecretInput): Manifest & JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  type: "Opaque",
  metadata: {
    name: agentObject(metadata.workspace_id, spec.agent),
    labels: agentLabels(settings.deployment, metadata, spec.agent, "secret")
  },
  data: {
    token: encoded(token),
    pod: encoded(gzipSync(JSON.stringify(pod))),
    ...(files === undefined ? {} : { "files.tar": encoded(files) })
  }
})

/** What belongs to the Secret of a start is deleted with it, also when it is made after the Secret's end. */
export const ownedBy = (secret: { readonly name: string; readonly uid: string }, object: JsonObject): JsonObject => ({
  ...object,
  metadata: {
    ...Object(object["metadata"]),
    ownerReferences: [{ apiVersion: "v1", kind: "Secret", name: secret.name, uid: secret.uid }]
  }
})

/** The policy of an agent's network; undefined if the operator asks for none. */
export const networkPolicyOf = (settings: Settings, metadata: BuildMetadata, spec: ContainerSpec): (Manifest & JsonObject) | undefined => {
  const isAlone = spec.network === "none"
  if (!isAlone && settings.options.networkPolicy !== true) return undefined
  const addresses = (settings.options.serviceAddresses ?? []).map((cidr) => ({ ipBlock: { cidr } }))
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: {
      name: agentObject(metadata.workspace_id, spec.agent),
      labels: agentLabels(settings.deployment, metadata, spec.agent, "network-policy")
    },
    spec: {
      podSelector: {
        matchLabels: { [label.workspace]: metadata.workspace_id, [label.agent]: labelValue(spec.agent), [label.part]: "agent" }
      },
      policyTypes: ["Ingress", ...(isAlone ? ["Egress"] : [])],
      ingress: [],
      ...(isAlone ? { egress: [{ to: addresses }] } : {})
    }
  }
}
