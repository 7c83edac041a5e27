import { Context, Duration, Effect, Option, Redacted, Schema } from "effect"
import { Access, AccessObjects, publishRightsChange } from "../../access/index.js"
import * as Audit from "../../audit/Audit.js"
import { isUnsafeAddress } from "../../platform/texts/Address.js"
import { constantTimeEquals, Cryptography, randomAlphanumeric, hashSecret } from "../../platform/secrets/Cryptography.js"
import { Conflict, Invalid, NotFound, refuseViolations, Unauthenticated, type Validation, type Forbidden } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import { nil, parse, type Uuid } from "../../platform/texts/Uuid.js"
import { Deployment } from "../Deployment.js"
import { DeploymentOptions, type Options } from "../options/DeploymentOptions.js"
import { DeploymentValues } from "../DeploymentValues.js"
import { requireFeature } from "../licenses/Entitlements.js"
import { ProxyHealth, type ProxyStatus } from "./ProxyHealth.js"
import { type ProxyReplica, type WorkspaceProxy, WorkspaceProxyRepository } from "./WorkspaceProxy.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Auditing } from "../../audit/Audit.js"

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

/** The deployment itself, as the first of its proxies. */
export const primaryName = "primary"

const maximumName = 128
const maximumAddress = 2048

/** A process that has told nothing for so long counts as dead. */
const replicaAliveFor = Duration.seconds(15)

/** How long the row of a process that is gone is kept. */
const replicaKeptFor = Duration.hours(24)

const secretLength = 64

const PrimaryText = Schema.parseJson(Schema.Struct({ display_name: Schema.String, icon: Schema.String }))
const primaryKey = "primary_region"

const missing = new NotFound({ resource: "workspace_proxy" })
const refused = new Unauthenticated({ message: "The token of the workspace proxy is not valid." })

/** The host names of apps, with the port of the deployment where the pattern has none. Empty where apps are served by path alone. */
export const appHostPattern = ({ accessUrl, wildcardAccessUrl }: Pick<Options, "accessUrl" | "wildcardAccessUrl">): string => {
  const { port } = new URL(accessUrl)
  return wildcardAccessUrl === "" || port === "" || /:\d+$/.test(wildcardAccessUrl) ? wildcardAccessUrl : `${wildcardAccessUrl}:${port}`
}

const textViolations = ({ display_name, icon, name }: ProxyFields): ReadonlyArray<Validation> => [
  ...(name.length > maximumName ? [{ field: "name", detail: `must have at most ${maximumName} characters` }] : []),
  ...(display_name.length > maximumName ? [{ field: "display_name", detail: `must have at most ${maximumName} characters` }] : []),
  ...(icon.length > maximumAddress || isUnsafeAddress(icon)
    ? [{ field: "icon", detail: "must be an http or https address, or a path" }]
    : [])
]

/** A host name with one star, which is the first label or the first part of it. */
const isWildcard = (pattern: string): boolean => /^\*[a-z0-9-]*(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+(?::\d{1,5})?$/i.test(pattern)

const isBase = (address: string): boolean => {
  if (!URL.canParse(address)) return false
  const { hash, password, pathname, protocol, search, username } = new URL(address)
  return /^https?:$/.test(protocol) && pathname === "/" && `${hash}${password}${search}${username}` === ""
}

const registrationViolations = ({ access_url, derp_enabled, derp_only, replica_id, wildcard_hostname }: Registration) => [
  ...(access_url.length <= maximumAddress && isBase(access_url)
    ? []
    : [{ field: "access_url", detail: "must be an http or https address without a path" }]),
  ...(wildcard_hostname === "" || isWildcard(wildcard_hostname)
    ? []
    : [{ field: "wildcard_hostname", detail: "must be a host name that begins with one star" }]),
  ...(replica_id === nil ? [{ field: "replica_id", detail: "must not be zero" }] : []),
  ...(derp_only && !derp_enabled ? [{ field: "derp_only", detail: "needs derp_enabled" }] : [])
]

/** The methods of {@link WorkspaceProxies}. */
export interface WorkspaceProxiesService {
  /** The primary, and all proxies that are not deleted. Fails with `Forbidden` without a license. */
  readonly list: Effect.Effect<ReadonlyArray<ObservedProxy>, Forbidden, CurrentActor>

  /** A proxy by id or exact name. Fails with `NotFound`, for a deleted one too. */
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
  ) => Effect.Effect<
    { readonly proxy: ObservedProxy; readonly token: Redacted.Redacted<string> },
    Invalid | Forbidden | Conflict,
    CurrentActor | Cryptography | Auditing
  >

  /**
   * Changes the settings of a proxy, and gives it a new token on request: the former one ends at once. The name of the primary proxy cannot
   * change. Fails with `NotFound` if the actor may not change the proxy, and with `Conflict` for a taken name.
   */
  readonly update: (
    reference: string,
    fields: ProxyFields,
    regenerate: boolean
  ) => Effect.Effect<
    { readonly proxy: ObservedProxy; readonly token: Redacted.Redacted<string> | undefined },
    Invalid | Forbidden | NotFound | Conflict,
    CurrentActor | Cryptography | Auditing
  >

  /** Deletes a proxy: its token ends at once. Fails with `Invalid` for the primary, and with `NotFound`. */
  readonly remove: (reference: string) => Effect.Effect<undefined, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /** The proxy that presents a token. Fails with `Forbidden` without a license, and with `Unauthenticated`. */
  readonly authenticate: (token: Redacted.Redacted<string>) => Effect.Effect<WorkspaceProxy, Unauthenticated | Forbidden>

  /**
   * Stores where a proxy and one of its processes are reached. Answers the proxy, and its other processes that are alive. Fails with
   * `Invalid`, and with `Conflict` for a process that has stopped before.
   */
  readonly register: (
    proxy: Pick<WorkspaceProxy, "id">,
    registration: Registration
  ) => Effect.Effect<
    { readonly proxy: WorkspaceProxy; readonly siblings: ReadonlyArray<ProxyReplica> },
    Invalid | Unauthenticated | Conflict,
    EventBus | Transactor
  >

  /** Notes that one of a proxy's processes stops. Fails with `NotFound` for one that is unknown or has stopped. */
  readonly deregister: (proxy: Pick<WorkspaceProxy, "id">, replicaId: Uuid) => Effect.Effect<void, NotFound, EventBus | Transactor>
}

const make = Effect.gen(function* () {
  const repository = yield* WorkspaceProxyRepository
  const health = yield* ProxyHealth
  const values = yield* DeploymentValues
  const cryptography = yield* Cryptography
  const ids = yield* Ids
  const { id: deploymentId } = yield* Deployment
  const options = yield* DeploymentOptions
  const decodePrimary = Schema.decodeOption(PrimaryText)
  const encodePrimary = Schema.encodeSync(PrimaryText)
  const licensed = requireFeature("workspace_proxy")
  const object = ({ id }: Pick<WorkspaceProxy, "id">) => ({ ...AccessObjects.bare("workspace_proxy"), id })

  const primary = Effect.gen(function* () {
    const now = yield* Timestamp.now
    const { display_name, icon } = Option.getOrElse(Option.flatMap(yield* values.get(primaryKey), decodePrimary), () => ({
      display_name: "Default",
      icon: "/emojis/1f3e1.png"
    }))
    const observed: ObservedProxy = {
      id: deploymentId,
      created_at: now,
      updated_at: now,
      deleted: false,
      name: primaryName,
      display_name,
      icon,
      url: options.accessUrl,
      wildcard_hostname: appHostPattern(options),
      derp_enabled: false,
      derp_only: false,
      version: "",
      status: { status: "ok", report: { errors: [], warnings: [] }, checked_at: now }
    }
    return observed
  })

  const observed = ({ region_id: _region, ...proxy }: WorkspaceProxy): Effect.Effect<ObservedProxy> =>
    Effect.map(health.of(proxy), (status) => ({ ...proxy, status }))

  const everyOne = Effect.gen(function* () {
    return [yield* primary, ...(yield* Effect.forEach(yield* repository.list, observed))]
  })

  const isPrimary = (reference: string): boolean => reference === primaryName || reference === deploymentId

  /** A proxy that the actor may read, by id or exact name. */
  const found = (reference: string) =>
    Effect.gen(function* () {
      const id = parse(reference)
      const proxy = Option.getOrUndefined(yield* repository.find(id === undefined ? { name: reference } : { id }))
      if (proxy === undefined) return yield* missing
      yield* Access.authorizeOrHide("read", object(proxy), missing)
      return proxy
    })

  const newToken = (id: Uuid) =>
    Effect.gen(function* () {
      const secret = yield* randomAlphanumeric(secretLength)
      return { token: Redacted.make(`${id}:${secret}`), hashedSecret: yield* hashSecret(cryptography, secret) }
    })

  const taken = (name: string) => Conflict.taken("A workspace proxy", name)

  const changePrimary = (fields: ProxyFields) =>
    Effect.gen(function* () {
      yield* Access.authorizeOrHide("update", object({ id: deploymentId }), missing)
      if (fields.name !== primaryName) return yield* Invalid.field("name", "of the primary proxy cannot be changed")
      yield* refuseViolations(textViolations(fields))
      yield* values.put(primaryKey, encodePrimary({ display_name: fields.display_name, icon: fields.icon }))
      return { proxy: yield* primary, token: undefined }
    })

  const authenticated = (token: Redacted.Redacted<string>) =>
    Effect.gen(function* () {
      const [reference = "", secret = "", ...more] = Redacted.value(token).split(":")
      const id = parse(reference)
      if (id === undefined || secret.length !== secretLength || more.length > 0) return yield* refused
      const hash = yield* hashSecret(cryptography, secret)
      const held = Option.getOrUndefined(yield* repository.withSecret(id))
      return held !== undefined && constantTimeEquals(held.hashedSecret, hash) ? held.proxy : yield* refused
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

    observed: everyOne,

    create: Traced.fn("WorkspaceProxies.create")(function* (fields: ProxyFields) {
      yield* licensed
      const id = yield* ids.next
      return yield* Audit.audited(
        { action: "create", type: "workspace_proxy", id, target: fields.name },
        Effect.gen(function* () {
          yield* Access.authorize("create", AccessObjects.bare("workspace_proxy"))
          if (fields.name === "") return yield* Invalid.field("name", "must not be empty")
          if (fields.name.toLowerCase() === primaryName) return yield* Invalid.field("name", "is the name of the deployment itself")
          yield* refuseViolations(textViolations(fields))
          const { hashedSecret, token } = yield* newToken(id)
          const now = yield* Timestamp.now
          const proxy = yield* repository
            .insert(
              {
                ...fields,
                id,
                created_at: now,
                updated_at: now,
                deleted: false,
                url: "",
                wildcard_hostname: "",
                derp_enabled: true,
                derp_only: false,
                version: ""
              },
              hashedSecret
            )
            .pipe(Effect.mapError(() => taken(fields.name)))
          yield* health.recheck
          return { value: { proxy: yield* observed(proxy), token }, after: { ...proxy, token_hashed_secret: hashedSecret } }
        })
      )
    }),

    update: Traced.fn("WorkspaceProxies.update")(function* (reference: string, fields: ProxyFields, regenerate: boolean) {
      yield* licensed
      if (isPrimary(reference)) return yield* changePrimary(fields)
      const { id, name } = yield* found(reference)
      return yield* Audit.audited(
        { action: "write", type: "workspace_proxy", id, target: name },
        Effect.gen(function* () {
          const before = Option.getOrUndefined(yield* repository.lock(id))
          if (before === undefined) return yield* missing
          yield* Access.authorizeOrHide("update", object(before), missing)
          if (fields.name.toLowerCase() === primaryName) return yield* Invalid.field("name", "is the name of the deployment itself")
          yield* refuseViolations(textViolations(fields))
          const after: WorkspaceProxy = { ...before, ...fields, updated_at: yield* Timestamp.now }
          yield* Effect.mapError(repository.update(after), () => taken(fields.name))
          const renewed = regenerate ? yield* newToken(id) : undefined
          if (renewed !== undefined) {
            yield* repository.setSecret(id, renewed.hashedSecret)
            yield* publishRightsChange({})
          }
          yield* health.recheck
          return {
            value: { proxy: yield* observed(after), token: renewed?.token },
            before: { ...before, token_hashed_secret: "before" },
            after: { ...after, token_hashed_secret: renewed === undefined ? "before" : "after" }
          }
        })
      )
    }),

    remove: Traced.fn("WorkspaceProxies.remove")(function* (reference: string) {
      yield* licensed
      if (isPrimary(reference)) {
        yield* Access.authorizeOrHide("delete", object({ id: deploymentId }), missing)
        return yield* new Invalid({ message: "The primary proxy is the deployment itself, and cannot be deleted." })
      }
      const { id, name } = yield* found(reference)
      yield* Audit.audited(
        { action: "delete", type: "workspace_proxy", id, target: name },
        Effect.gen(function* () {
          const before = Option.getOrUndefined(yield* repository.lock(id))
          if (before === undefined) return yield* missing
          yield* Access.authorizeOrHide("delete", object(before), missing)
          yield* Effect.orDie(repository.update({ ...before, deleted: true, updated_at: yield* Timestamp.now }))
          yield* publishRightsChange({})
          yield* health.recheck
          return { value: undefined, before: { ...before, token_hashed_secret: "before" } }
        })
      )
    }),

    authenticate: Traced.fn("WorkspaceProxies.authenticate")(function* (token: Redacted.Redacted<string>) {
      yield* licensed
      return yield* authenticated(token)
    }),

    register: Traced.fn("WorkspaceProxies.register")(function* ({ id }: Pick<WorkspaceProxy, "id">, registration: Registration) {
      yield* refuseViolations(registrationViolations(registration))
      const { access_url, derp_enabled, derp_only, error, hostname, relay_address, replica_id, version, wildcard_hostname } = registration
      const now = yield* Timestamp.now
      const registered = yield* transaction(
        Effect.gen(function* () {
          const before = Option.getOrUndefined(yield* repository.lock(id))
          if (before === undefined) return yield* refused
          const known = Option.getOrUndefined(yield* repository.replica(replica_id))
          if (known !== undefined && (known.stopped_at !== null || known.proxy_id !== id)) {
            return yield* new Conflict({ message: "The replica's id has been used before." })
          }
          const url = new URL(access_url).origin
          const after: WorkspaceProxy = { ...before, url, wildcard_hostname, derp_enabled, derp_only, version }
          const isChanged = Object.entries(after).some(([key, value]) => before[key as keyof WorkspaceProxy] !== value)
          if (isChanged) yield* Effect.orDie(repository.update({ ...after, updated_at: now }))
          const replica: ProxyReplica = {
            id: replica_id,
            proxy_id: id,
            created_at: known?.created_at ?? now,
            updated_at: now,
            stopped_at: null,
            hostname: hostname.slice(0, maximumName),
            relay_address: relay_address.slice(0, maximumAddress),
            error: error.slice(0, maximumAddress)
          }
          yield* repository.putReplica(replica)
          yield* repository.removeReplicasBefore(Timestamp.minus(now, replicaKeptFor))
          return { proxy: after, isChanged }
        })
      )
      if (registered.isChanged) yield* health.recheck
      const alive = yield* repository.replicasSince(id, Timestamp.minus(now, replicaAliveFor))
      return { proxy: registered.proxy, siblings: alive.filter((replica) => replica.id !== replica_id) }
    }),

    deregister: Traced.fn("WorkspaceProxies.deregister")(function* ({ id }: Pick<WorkspaceProxy, "id">, replicaId: Uuid) {
      yield* transaction(
        Effect.gen(function* () {
          yield* repository.lock(id)
          const known = Option.getOrUndefined(yield* repository.replica(replicaId))
          if (known === undefined || known.proxy_id !== id || known.stopped_at !== null) return yield* new NotFound({ resource: "replica" })
          yield* repository.putReplica({ ...known, stopped_at: yield* Timestamp.now })
        })
      )
      yield* health.recheck
    })
  }
})

/** Workspace proxies: what administrators make of them, and what they tell of themselves. agents-and-apps.md §21. */
export class WorkspaceProxies extends Context.Tag("@atelier/core/WorkspaceProxies")<WorkspaceProxies, WorkspaceProxiesService>() {
  static readonly layer = standingOn(service(WorkspaceProxies, make), Deployment.layer, ProxyHealth.layer)
}
