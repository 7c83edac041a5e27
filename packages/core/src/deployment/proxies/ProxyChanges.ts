import { Effect, Option, Redacted } from "effect"
import { Access, AccessObjects, publishRightsChange } from "../../access/index.js"
import * as Audit from "../../audit/Audit.js"
import { proxyAudit } from "./WorkspaceProxyAudit.js"
import { type Cryptography, randomAlphanumeric, hashSecret } from "../../platform/secrets/Cryptography.js"
import { Conflict, Invalid, refuseViolations } from "../../platform/Errors.js"
import type { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { Deployment } from "../Deployment.js"
import type { ProxyHealth } from "./ProxyHealth.js"
import type { WorkspaceProxy, WorkspaceProxyRepository } from "./WorkspaceProxy.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { type ProxyAccess, licensed, missing, object } from "./ProxyAccess.js"
import { type PrimaryProxy, primaryName } from "./PrimaryProxy.js"
import type { ProxyFields } from "./WorkspaceProxies.js"
import { textViolations } from "./ProxyFieldRules.js"

export const secretLength = 64

const taken = (name: string) => Conflict.taken("A workspace proxy", name)

interface Needs extends Pick<ProxyAccess, "observed" | "found">, Pick<PrimaryProxy, "isPrimary" | "changePrimary"> {
  readonly cryptography: Cryptography["Type"]
  readonly ids: Ids["Type"]
  readonly repository: WorkspaceProxyRepository["Type"]
  readonly health: ProxyHealth["Type"]
  readonly deploymentId: Deployment["Type"]["id"]
}

/** Changes of proxies by administrators. */
export const proxyChanges = ({ cryptography, ids, repository, health, observed, isPrimary, changePrimary, found, deploymentId }: Needs) => {
  const newToken = (id: Uuid) =>
    Effect.gen(function* () {
      const secret = yield* randomAlphanumeric(secretLength)
      return { token: Redacted.make(`${id}:${secret}`), hashedSecret: yield* hashSecret(cryptography, secret) }
    })

  return {
    create: Traced.fn("WorkspaceProxies.create")(function* (fields: ProxyFields) {
      yield* licensed
      const id = yield* ids.next
      return yield* Audit.audited(
        { action: "create", resource: proxyAudit, id, target: fields.name },
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
        { action: "write", resource: proxyAudit, id, target: name },
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
      const proxy = yield* found(reference)
      if (proxy.deleted) {
        yield* Access.authorizeOrHide("delete", object(proxy), missing)
        // Deleting it again changes nothing
        return
      }
      const { id, name } = proxy
      yield* Audit.audited(
        { action: "delete", resource: proxyAudit, id, target: name },
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
    })
  }
}
