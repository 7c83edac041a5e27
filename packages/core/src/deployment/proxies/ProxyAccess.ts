import { Effect, Option } from "effect"
import { Access, AccessObjects } from "../../access/index.js"
import { NotFound } from "../../platform/Errors.js"
import { parse } from "../../platform/texts/Uuid.js"
import { requireFeature } from "../licenses/Entitlements.js"
import type { ProxyHealth } from "./ProxyHealth.js"
import type { WorkspaceProxy, WorkspaceProxyRepository } from "./WorkspaceProxy.js"
import type { ObservedProxy } from "./WorkspaceProxies.js"

export const missing = new NotFound({ resource: "workspace_proxy" })

export const licensed = requireFeature("workspace_proxy")

export const object = ({ id }: Pick<WorkspaceProxy, "id">) => ({ ...AccessObjects.bare("workspace_proxy"), id })

interface Needs {
  readonly health: ProxyHealth["Type"]
  readonly repository: WorkspaceProxyRepository["Type"]
}

/** How a proxy is found for an actor, and how it is shown with its health. */
export const proxyAccess = ({ health, repository }: Needs) => {
  const observed = ({ region_id: _region, ...proxy }: WorkspaceProxy): Effect.Effect<ObservedProxy> =>
    Effect.map(health.of(proxy), (status) => ({ ...proxy, status }))

  /** A proxy that the actor may read, by id or exact name. */
  const found = (reference: string) =>
    Effect.gen(function* () {
      const id = parse(reference)
      const proxy = Option.getOrUndefined(yield* repository.find(id === undefined ? { name: reference } : { id }))
      if (proxy === undefined) return yield* missing
      yield* Access.authorizeOrHide("read", object(proxy), missing)
      return proxy
    })

  return { observed, found }
}

/** The result of {@link proxyAccess}. */
export type ProxyAccess = ReturnType<typeof proxyAccess>
