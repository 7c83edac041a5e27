/** How everything that the engine makes is named and labelled: it is found again by its labels alone. */
import { Uuid } from "@atelier/core/platform"

const prefix = "atelier.dev"

export const labels = {
  deployment: `${prefix}/deployment`,
  workspace: `${prefix}/workspace-id`,
  build: `${prefix}/build-id`,
  agent: `${prefix}/agent`,
  owner: `${prefix}/owner`,
  part: `${prefix}/part`,
  volume: `${prefix}/volume`,
  keep: `${prefix}/keep`,
  /** The port of a workspace that has the machine's own network. */
  port: `${prefix}/port`,
  /** One run of a start: a failed one removes what it made, and nothing of a later one. */
  attempt: `${prefix}/attempt`
} as const

export type Part = "agent" | "sidecar" | "volume" | "port" | "runtime" | "network" | "image"

export type Labels = Readonly<Record<string, string>>

/** What all that a deployment makes is labelled with. */
export const ownLabels = (deployment: string): Labels => ({ [labels.deployment]: deployment })

/** The filter of the Docker API for labels: all of them must be there, with these values. */
export const withLabels = (wanted: Labels): { readonly label: Array<string> } => ({
  label: Object.entries(wanted).map(([name, value]) => `${name}=${value}`)
})

/** The workspace that a label names; undefined where it names none. */
export const workspaceIn = (found: Labels | null | undefined): Uuid.Uuid | undefined => Uuid.parse(found?.[labels.workspace] ?? "")

export const containerName = (workspaceId: Uuid.Uuid, agent: string): string => `atelier-${workspaceId}-${agent}`

/** An agent's name has no dot, so that the name of a sidecar is that of no agent. */
export const sidecarName = (workspaceId: Uuid.Uuid, agent: string, sidecar: string): string =>
  `${containerName(workspaceId, agent)}.${sidecar}`

/** Agents have volumes of their own, also where the names are the same. No agent's name has two hyphens. */
export const volumeName = (workspaceId: Uuid.Uuid, agent: string, volume: string): string =>
  `${containerName(workspaceId, agent)}--${volume}`
