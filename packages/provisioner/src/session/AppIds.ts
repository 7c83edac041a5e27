/** The ids of apps. */
import { Uuid } from "@atelier/core/platform"
import type { ProvisionedResource } from "@atelier/core/provisioning"
import { createHash } from "node:crypto"

/** The same in every build of a workspace, so that what was reported of an app stays with it. A UUID made of a hash (RFC 9562 §5.8). */
export const appId = (workspaceId: Uuid.Uuid, slug: string): Uuid.Uuid => {
  const bytes = createHash("sha256").update(`${workspaceId}/${slug}`).digest()
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const digits = bytes.toString("hex", 0, 16)
  return Uuid.Uuid.make(digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"))
}

/** A resource whose apps have the ids that they have in every build. */
export const withAppIds = (workspaceId: Uuid.Uuid, resource: ProvisionedResource): ProvisionedResource => ({
  ...resource,
  agents: resource.agents.map((agent) => ({ ...agent, apps: agent.apps.map((app) => ({ ...app, id: appId(workspaceId, app.slug) })) }))
})
