/** Names and labels of the cluster's objects. They come from ids, so that a step that is done again finds what it made before. */
import type { Uuid } from "@atelier/core/platform"
import type { BuildMetadata } from "@atelier/core/provisioning"
import { createHash } from "node:crypto"

export const label = {
  deployment: "atelier.dev/deployment",
  workspace: "atelier.dev/workspace-id",
  build: "atelier.dev/build-id",
  agent: "atelier.dev/agent",
  owner: "atelier.dev/owner",
  part: "atelier.dev/part",
  volume: "atelier.dev/volume",
  keep: "atelier.dev/keep"
} as const

export type Part = "agent" | "volume" | "secret" | "network-policy"

/** The longest text of a label, and of a Pod's name that becomes its host name. */
const longest = 63

/** A text as a part of a name (RFC 1123): lower-case letters, digits and hyphens. One that had to be changed ends with its hash. */
export const nameOf = (text: string, maximum: number): string => {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "")
  if (plain === text && plain.length <= maximum) return plain
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 8)
  return `${plain.slice(0, maximum - 9)}-${hash}`.replace(/^-+/, "")
}

/** A text as the value of a label. */
export const labelValue = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9._-]+/g, "_")
    .slice(0, longest)
    .replace(/^[._-]+|[._-]+$/g, "")

/** `atelier-` with the workspace's id, which has 36 characters. */
const prefix = (workspaceId: Uuid.Uuid): string => `atelier-${workspaceId}-`

/** The name of an agent's Pod, Secret and NetworkPolicy. */
export const agentObject = (workspaceId: Uuid.Uuid, agent: string): string =>
  `${prefix(workspaceId)}${nameOf(agent, longest - prefix(workspaceId).length)}`

/** The name of a volume's claim. The volumes of each agent are its own: a claim may be of one node. */
export const volumeObject = (workspaceId: Uuid.Uuid, agent: string, volume: string): string =>
  `${prefix(workspaceId)}${nameOf(agent, 64)}--${nameOf(volume, 64)}`

export type Labels = Readonly<Record<string, string>>

/** The labels of everything that belongs to a workspace. */
export const workspaceLabels = (deployment: string, workspaceId: Uuid.Uuid): Labels => ({
  "app.kubernetes.io/managed-by": "atelier",
  [label.deployment]: deployment,
  [label.workspace]: workspaceId
})

/** The labels of what a build makes for an agent. */
export const agentLabels = (deployment: string, metadata: BuildMetadata, agent: string, part: Part): Labels => ({
  ...workspaceLabels(deployment, metadata.workspace_id),
  [label.agent]: labelValue(agent),
  [label.part]: part,
  [label.build]: metadata.workspace_build_id,
  // A workspace that is handed over loses it
  [label.owner]: labelValue(metadata.owner_username)
})
