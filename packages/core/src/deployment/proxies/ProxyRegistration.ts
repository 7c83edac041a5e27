import { Duration, Effect, Option, Redacted } from "effect"
import { constantTimeEquals, type Cryptography, hashSecret } from "../../platform/secrets/Cryptography.js"
import { Conflict, NotFound, refuseViolations, Unauthenticated } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import { parse, type Uuid } from "../../platform/texts/Uuid.js"
import type { ProxyHealth } from "./ProxyHealth.js"
import type { ProxyReplica, WorkspaceProxy, WorkspaceProxyRepository } from "./WorkspaceProxy.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { licensed } from "./ProxyAccess.js"
import type { Registration } from "./WorkspaceProxies.js"
import { registrationViolations, maximumName, maximumAddress } from "./ProxyFieldRules.js"
import { secretLength } from "./ProxyChanges.js"

/** A process that has told nothing for so long counts as dead. */
const replicaAliveFor = Duration.seconds(15)

/** How long the row of a process that is gone is kept. */
const replicaKeptFor = Duration.hours(24)

const refused = new Unauthenticated({ message: "The token of the workspace proxy is not valid." })

interface Needs {
  readonly cryptography: Cryptography["Type"]
  readonly repository: WorkspaceProxyRepository["Type"]
  readonly health: ProxyHealth["Type"]
}

/** What a proxy's processes tell the deployment about themselves. */
export const proxyRegistration = ({ cryptography, repository, health }: Needs) => {
  const partsOf = (token: Redacted.Redacted<string>) => {
    const [reference = "", secret = "", ...more] = Redacted.value(token).split(":")
    const id = parse(reference)
    return id === undefined || secret.length !== secretLength || more.length > 0 ? refused : Effect.succeed({ id, secret })
  }

  const authenticated = (token: Redacted.Redacted<string>) =>
    Effect.gen(function* () {
      const { id, secret } = yield* partsOf(token)
      const hash = yield* hashSecret(cryptography, secret)
      const held = Option.getOrUndefined(yield* repository.withSecret(id))
      return held !== undefined && constantTimeEquals(held.hashedSecret, hash) ? held.proxy : yield* refused
    })

  /** Locks the proxy of a token until the transaction ends, and returns it. The token cannot be replaced before. */
  const locked = (token: Redacted.Redacted<string>) =>
    Effect.flatMap(partsOf(token), ({ id }) => Effect.zipRight(repository.lock(id), authenticated(token)))

  return {
    authenticate: Traced.fn("WorkspaceProxies.authenticate")(function* (token: Redacted.Redacted<string>) {
      yield* licensed
      return yield* authenticated(token)
    }),

    register: Traced.fn("WorkspaceProxies.register")(function* (token: Redacted.Redacted<string>, registration: Registration) {
      yield* refuseViolations(registrationViolations(registration))
      const { access_url, derp_enabled, derp_only, error, hostname, relay_address, replica_id, version, wildcard_hostname } = registration
      const now = yield* Timestamp.now
      const registered = yield* transaction(
        Effect.gen(function* () {
          const before = yield* locked(token)
          const known = Option.getOrUndefined(yield* repository.replica(replica_id))
          if (known !== undefined && (known.stopped_at !== null || known.proxy_id !== before.id)) {
            return yield* new Conflict({ message: "The replica's id has been used before." })
          }
          const url = new URL(access_url).origin
          const after: WorkspaceProxy = { ...before, url, wildcard_hostname, derp_enabled, derp_only, version }
          const isChanged = Object.entries(after).some(([key, value]) => before[key as keyof WorkspaceProxy] !== value)
          if (isChanged) yield* Effect.orDie(repository.update({ ...after, updated_at: now }))
          const replica: ProxyReplica = {
            id: replica_id,
            proxy_id: before.id,
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
      const alive = yield* repository.replicasSince(registered.proxy.id, Timestamp.minus(now, replicaAliveFor))
      return { proxy: registered.proxy, siblings: alive.filter((replica) => replica.id !== replica_id) }
    }),

    deregister: Traced.fn("WorkspaceProxies.deregister")(function* (token: Redacted.Redacted<string>, replicaId: Uuid) {
      yield* transaction(
        Effect.gen(function* () {
          const { id } = yield* locked(token)
          const known = Option.getOrUndefined(yield* repository.replica(replicaId))
          if (known === undefined || known.proxy_id !== id || known.stopped_at !== null) return yield* new NotFound({ resource: "replica" })
          yield* repository.putReplica({ ...known, stopped_at: yield* Timestamp.now })
        })
      )
      yield* health.recheck
    })
  }
}
