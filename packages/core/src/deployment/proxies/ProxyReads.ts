import { Effect } from "effect"
import { Access } from "../../access/index.js"
import type { WorkspaceProxyRepository } from "./WorkspaceProxy.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { PrimaryProxy } from "./PrimaryProxy.js"
import { type ProxyAccess, licensed, object } from "./ProxyAccess.js"

interface Needs extends Pick<PrimaryProxy, "primary" | "isPrimary">, Pick<ProxyAccess, "observed" | "found"> {
  readonly repository: WorkspaceProxyRepository["Type"]
}

/** Lists of proxies, for administrators, for users and for the service itself. */
export const proxyReads = ({ primary, repository, observed, isPrimary, found }: Needs) => {
  const everyOne = Effect.gen(function* () {
    return [yield* primary, ...(yield* Effect.forEach(yield* repository.list, observed))]
  })

  return {
    list: Effect.gen(function* () {
      yield* licensed
      const shown = yield* Access.filter("read", yield* repository.list, object)
      return [yield* primary, ...(yield* Effect.forEach(shown, observed))]
    }),

    get: Traced.fn("WorkspaceProxies.get")(function* (reference: string) {
      yield* licensed
      return isPrimary(reference) ? yield* primary : yield* Effect.flatMap(found(reference), observed)
    }),

    serving: Effect.map(repository.list, (all) => all.filter(({ derp_only, url }) => url !== "" && !derp_only)),

    regions: Effect.map(everyOne, (all) => all.filter(({ derp_only }) => !derp_only)),

    observed: everyOne
  }
}
