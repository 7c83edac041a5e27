/** What changes in the agents of a running workspace when it gets its owner. templates-and-provisioning.md §5.4. */
import type { ProvisionedAgent, ProvisionedResource, ProvisionedScript } from "../../provisioning/engines/ProvisionedResource.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { BuildAgent, BuildResource } from "./BuildResource.js"

/** An agent that stays, and what its template makes of it for the new owner. */
export interface KeptAgent {
  readonly stored: BuildAgent
  readonly provisioned: ProvisionedAgent
  readonly token: Uuid
  readonly scripts: ReadonlyArray<{ readonly id: Uuid; readonly script: ProvisionedScript }>
}

/** A resource that stays, with its agents. */
export interface KeptResource {
  readonly provisioned: ProvisionedResource
  readonly agents: ReadonlyArray<KeptAgent>
}

const keptAgent = (stored: BuildAgent, provisioned: ProvisionedAgent): KeptAgent | undefined => {
  const { auth, apps, devcontainers = [], monitors = [], scripts } = provisioned
  if (stored.parent_id !== null || auth._tag !== "Token" || devcontainers.length > 0 || monitors.length > 0) return undefined
  const slugs = new Set(apps.map(({ slug }) => slug))
  if (apps.some(({ id }) => id === undefined) || stored.apps.length !== slugs.size) return undefined
  if (stored.apps.some(({ slug }) => !slugs.has(slug)) || stored.scripts.length !== scripts.length) return undefined
  const kept = stored.scripts.flatMap(({ display_name, id }, index) => {
    const script = scripts[index]
    return script?.display_name === display_name ? [{ id, script }] : []
  })
  return kept.length === scripts.length ? { stored, provisioned, token: auth.token, scripts: kept } : undefined
}

/** Pairs each resource, agent, app and script with that of the build that runs; undefined where something has come or gone. */
export const keptResources = (
  stored: ReadonlyArray<BuildResource>,
  provisioned: ReadonlyArray<ProvisionedResource>
): ReadonlyArray<KeptResource> | undefined => {
  if (stored.length !== provisioned.length) return undefined
  const kept = provisioned.flatMap((resource): ReadonlyArray<KeptResource> => {
    const before = stored.find(({ name, type }) => name === resource.name && type === resource.type)
    if (before?.agents.length !== resource.agents.length) return []
    const agents = resource.agents.flatMap((agent) => {
      const known = before.agents.find(({ name }) => name === agent.name)
      return known === undefined ? [] : (keptAgent(known, agent) ?? [])
    })
    return agents.length === resource.agents.length ? [{ provisioned: resource, agents }] : []
  })
  return kept.length === provisioned.length ? kept : undefined
}
