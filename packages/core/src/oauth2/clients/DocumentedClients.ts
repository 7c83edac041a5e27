import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { makeKeyedLock } from "../../platform/collections/KeyedLock.js"
import * as Lru from "../../platform/collections/Lru.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import { transaction } from "../../platform/store/Transactor.js"
import * as Monotonic from "../../platform/time/Monotonic.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { ClientDocuments, idOfDocument, readClientDocument } from "./ClientDocument.js"
import { appName, type ClientMetadata } from "./ClientMetadata.js"
import { managedClients } from "./ManagedClients.js"
import type { OAuth2App } from "./OAuth2App.js"
import { appAudit, auditedApp } from "./OAuth2AppAudit.js"
import type { OAuth2AppRepository } from "./OAuth2AppRepository.js"
import { invalidClient, OAuthError } from "../OAuthError.js"
import { hashText } from "../tokens/OAuthSecret.js"

/** How long what a document says is taken as it is, and how long it holds while the document cannot be had. */
const freshFor = "10 minutes"
const heldFor = "1 day"

/** Milliseconds in which a document that could not be had is not asked for again. */
const restsFor = 60_000

/** Documents that are read at once in this process: any caller can name one. */
const maximumReads = 16

/** Refusals that are remembered. */
const capacity = 1_000

const unreadable = new OAuthError({ error: "invalid_client", message: "The client's metadata document cannot be read." })
const busy = new OAuthError({ error: "temporarily_unavailable", message: "Too many metadata documents of clients are being read." })

interface Needs {
  readonly repository: OAuth2AppRepository["Type"]
  /** Whether clients are admitted that are not stored yet. */
  readonly admitted: Effect.Effect<boolean>
}

/** What of a client its document says. */
const said = ({ grant_types, icon, metadata, name, redirect_uris, token_endpoint_auth_method }: OAuth2App): string =>
  JSON.stringify([name, icon, redirect_uris, token_endpoint_auth_method, grant_types, metadata])

/** Clients that are described by a document at their id. They are stored as clients that register themselves. */
export const documentedClients = ({ admitted, repository }: Needs) =>
  Effect.gen(function* () {
    const source = yield* ClientDocuments
    const services = yield* Effect.context<Audit.Auditing | Cryptography>()
    const oneAtATime = makeKeyedLock<string>()
    const refusals = Lru.make<string, { readonly at: number; readonly error: OAuthError }>(capacity)
    const places = yield* Effect.makeSemaphore(maximumReads)
    const { requireRoom } = managedClients({ repository })

    const described = ({ client_name, ...metadata }: ClientMetadata) =>
      Effect.map(hashText(client_name), (hashed) => ({
        ...metadata,
        name: appName(client_name, hashed),
        icon: metadata.metadata.logo_uri ?? ""
      }))

    const read = (url: string) =>
      Effect.flatMap(places.withPermitsIfAvailable(1)(Effect.mapError(source.read(url), () => unreadable)), (text) =>
        Option.isNone(text) ? busy : readClientDocument(url, text.value)
      )

    const subject = (action: "register" | "write", { id, name }: OAuth2App) => ({ action, resource: appAudit, id, target: name })

    const added = (app: OAuth2App) =>
      Audit.audited(
        subject("register", app),
        // Another replica may have been faster
        Effect.map(repository.insertMissing(app), () => ({ value: app, after: auditedApp(app) }))
      )

    const changed = (id: OAuth2App["id"], described: Partial<OAuth2App>) =>
      transaction(
        Effect.gen(function* () {
          const before = yield* Effect.mapError(Effect.flatten(repository.lock(id)), () => invalidClient)
          const after: OAuth2App = { ...before, ...described }
          yield* repository.update(after)
          if (said(before) === said(after)) return after
          const { success } = yield* Audit.AuditStatus
          yield* Audit.record({ ...subject("write", after), status_code: success, before: auditedApp(before), after: auditedApp(after) })
          return after
        })
      )

    /** What the document says now, stored. */
    const renewed = (url: string, id: OAuth2App["id"], known: OAuth2App | undefined) =>
      Effect.gen(function* () {
        const metadata = yield* described(yield* read(url))
        const now = yield* Timestamp.now
        if (known !== undefined) return yield* changed(id, { ...metadata, updated_at: now })
        yield* requireRoom(now)
        return yield* added({ id, created_at: now, updated_at: now, ...metadata, dynamically_registered: true, last_used_at: null })
      }).pipe(Access.actingAs(SystemActor.systemOauth))

    const find = (url: string) =>
      Effect.gen(function* () {
        const id = idOfDocument(yield* hashText(url))
        if (id === undefined) return yield* invalidClient
        const known = Option.getOrUndefined(yield* repository.byId(id))
        const now = yield* Timestamp.now
        if (known === undefined && !(yield* admitted)) return yield* invalidClient
        if (known !== undefined && Timestamp.minus(now, freshFor) < known.updated_at) return known
        const held = known !== undefined && Timestamp.minus(now, heldFor) < known.updated_at ? known : undefined
        const at = yield* Monotonic.now
        const refusal = refusals.get(url)
        const renewal = refusal !== undefined && at - refusal.at < restsFor ? Effect.fail(refusal.error) : renewed(url, id, known)
        return yield* Effect.catchAll(renewal, (error) => {
          if (error.error !== "temporarily_unavailable" && error !== refusal?.error) refusals.set(url, { at, error })
          // A document that is there and wrong ends the client at once
          return held !== undefined && error.error !== "invalid_client_metadata" ? Effect.succeed(held) : error
        })
      })

    /** The client that the document at a URL describes. Fails with `OAuthError` for one that may not be used. */
    return (url: string): Effect.Effect<OAuth2App, OAuthError> => Effect.provide(oneAtATime(url)(find(url)), services)
  })
