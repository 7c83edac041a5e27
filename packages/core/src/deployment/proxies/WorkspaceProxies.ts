import { Context, Effect, type Redacted } from "effect"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import type { Conflict, Invalid, NotFound, Unauthenticated, Forbidden } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { Deployment } from "../Deployment.js"
import { DeploymentOptions } from "../options/DeploymentOptions.js"
import { DeploymentValues } from "../DeploymentValues.js"
import { ProxyHealth, type ProxyStatus } from "./ProxyHealth.js"
import { type ProxyReplica, type WorkspaceProxy, WorkspaceProxyRepository } from "./WorkspaceProxy.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Auditing } from "../../audit/Audit.js"
import { proxyAccess } from "./ProxyAccess.js"
import { primaryProxy } from "./PrimaryProxy.js"
import { proxyReads } from "./ProxyReads.js"
import { proxyChanges } from "./ProxyChanges.js"
import { proxyRegistration } from "./ProxyRegistration.js"

/** A proxy, and whether it works. */
export interface ObservedProxy extends Omit<WorkspaceProxy, "region_id"> {
  readonly status: ProxyStatus
}

/** The settings of a proxy that administrators choose. */
export interface ProxyFields {
  readonly name: string
  readonly display_name: string
  readonly icon: string
}

/** The registration of one process of a proxy. */
export interface Registration extends Pick<WorkspaceProxy, "wildcard_hostname" | "derp_enabled" | "derp_only" | "version"> {
  readonly access_url: string
  readonly replica_id: Uuid
  readonly hostname: string
  readonly relay_address: string
  readonly error: string
}

/** A proxy with the token that was made for it, which is shown once; undefined where the former one stays. */
export interface ProxyWithToken<Token = Redacted.Redacted<string> | undefined> {
  readonly proxy: ObservedProxy
  readonly token: Token
}

/** A proxy one of whose processes has registered, with its other processes. */
export interface RegisteredProxy {
  readonly proxy: WorkspaceProxy
  readonly siblings: ReadonlyArray<ProxyReplica>
}

/** The methods of {@link WorkspaceProxies}. */
export interface WorkspaceProxiesService {
  /** The primary, and all proxies that are not deleted. Fails with `Forbidden` without a license. */
  readonly list: Effect.Effect<ReadonlyArray<ObservedProxy>, Forbidden, CurrentActor>

  /** A proxy by id or exact name. A deleted one is found by its id. Fails with `NotFound`. */
  readonly get: (reference: string) => Effect.Effect<ObservedProxy, Forbidden | NotFound, CurrentActor>

  /** The proxies that have registered and serve apps, without judging who asks: the service itself sends browsers there. */
  readonly serving: Effect.Effect<ReadonlyArray<WorkspaceProxy>>

  /** The regions in which apps are reached: the primary, and the proxies that serve apps. Every user may know them. */
  readonly regions: Effect.Effect<ReadonlyArray<ObservedProxy>>

  /** The primary and every proxy, without judging who asks: the health report shows them, which authorizes its reader itself. */
  readonly observed: Effect.Effect<ReadonlyArray<ObservedProxy>>

  /**
   * Makes a proxy and answers its token, which is shown once. Fails with `Forbidden`, with `Invalid` for a name that is empty or that of
   * the primary, and with `Conflict` for one that is taken in any case.
   */
  readonly create: (
    fields: ProxyFields
  ) => Effect.Effect<ProxyWithToken<Redacted.Redacted<string>>, Invalid | Forbidden | Conflict, CurrentActor | Cryptography | Auditing>

  /**
   * Changes the settings of a proxy, and gives it a new token on request: the former one ends at once. The name of the primary proxy cannot
   * change. Fails with `NotFound` if the actor may not change the proxy, and with `Conflict` for a taken name.
   */
  readonly update: (
    reference: string,
    fields: ProxyFields,
    regenerate: boolean
  ) => Effect.Effect<ProxyWithToken, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Cryptography | Auditing>

  /** Deletes a proxy: its token ends at once. Fails with `Invalid` for the primary, and with `NotFound`. */
  readonly remove: (reference: string) => Effect.Effect<undefined, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** The proxy that presents a token. Fails with `Forbidden` without a license, and with `Unauthenticated`. */
  readonly authenticate: (token: Redacted.Redacted<string>) => Effect.Effect<WorkspaceProxy, Unauthenticated | Forbidden>

  /**
   * Stores where the proxy of a token and one of its processes are reached. Answers the proxy, and its other processes that are alive. Fails with
   * `Invalid`, with `Unauthenticated`, and with `Conflict` for a process that has stopped before.
   */
  readonly register: (
    token: Redacted.Redacted<string>,
    registration: Registration
  ) => Effect.Effect<RegisteredProxy, Invalid | Unauthenticated | Conflict, EventBus | Transactor>

  /** Notes that a process of a token's proxy stops. Fails with `Unauthenticated`, and with `NotFound` for a process that is unknown or has stopped. */
  readonly deregister: (
    token: Redacted.Redacted<string>,
    replicaId: Uuid
  ) => Effect.Effect<void, Unauthenticated | NotFound, EventBus | Transactor>
}

const make = Effect.gen(function* () {
  const repository = yield* WorkspaceProxyRepository
  const health = yield* ProxyHealth
  const values = yield* DeploymentValues
  const cryptography = yield* Cryptography
  const ids = yield* Ids
  const { id: deploymentId } = yield* Deployment
  const options = yield* DeploymentOptions

  const { observed, found } = proxyAccess({ health, repository })

  const { primary, isPrimary, changePrimary } = primaryProxy({ values, deploymentId, options })

  return {
    ...proxyReads({ primary, repository, observed, isPrimary, found }),
    ...proxyChanges({ cryptography, ids, repository, health, observed, isPrimary, changePrimary, found, deploymentId }),
    ...proxyRegistration({ cryptography, repository, health })
  }
})

/** Workspace proxies: what administrators make of them, and what they tell of themselves. agents-and-apps.md §21. */
export class WorkspaceProxies extends Context.Tag("@atelier/core/WorkspaceProxies")<WorkspaceProxies, WorkspaceProxiesService>() {
  static readonly layer = standingOn(service(WorkspaceProxies, make), Deployment.layer, ProxyHealth.layer)
}
