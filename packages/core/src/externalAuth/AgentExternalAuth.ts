import { Context, Deferred, Effect, Redacted } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { upstreamFailure } from "./ExternalAuthLogins.js"
import { type ExternalAuthClient, ExternalAuthClients, servesAddress } from "./ExternalAuthClient.js"
import type { ExternalAuthTokenSet } from "./ExternalAuthLink.js"
import { ExternalAuthTokens, newLinksOf } from "./ExternalAuthTokens.js"
import { Invalid, NotFound, type Forbidden, type UpstreamFailure } from "../platform/Errors.js"
import { EventBus, listen } from "../platform/events/EventBus.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { ExternalAuthDeclarations } from "./ExternalAuthDeclarations.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CurrentActor } from "../access/actors/Actor.js"

/** What is asked of the workspace of an agent. */
export interface ExternalAuthWorkspace {
  readonly owner_id: Uuid
  readonly template_version_id: Uuid
}

/** The provider that an agent asks for: by its id, or by the address of a repository. */
export interface ExternalAuthQuery {
  readonly id: string
  readonly match: string
}

/** A token as programs in a workspace use it, or the address where its owner signs in to get one. */
export interface AgentExternalAuthToken {
  readonly access_token: Redacted.Redacted<string>
  /** Of HTTP basic authentication, as git sends it. */
  readonly username: Redacted.Redacted<string>
  readonly password: Redacted.Redacted<string>
  readonly type: string
  readonly token_extra: Readonly<Record<string, unknown>> | null
  readonly expires_at: Timestamp | null
  /** Empty with a token. */
  readonly url: string
}

/** How long an agent waits before it looks for a link that no event told of. */
const recheck = "30 seconds"

const nothing = Redacted.make("")

const named = (ids: ReadonlyArray<string>): string => ids.map((id) => JSON.stringify(id)).join(", ")

/** The names under which git sends a token as a password. */
const usernames: Readonly<Record<string, string>> = {
  gitlab: "oauth2",
  "bitbucket-cloud": "x-token-auth",
  "bitbucket-server": "x-token-auth"
}

/** The methods of {@link AgentExternalAuth}. */
export interface AgentExternalAuthService {
  /**
   * Returns the token of the workspace's owner at a provider, or the address where the owner signs in. Fails with `Invalid` unless
   * the query names one provider, with `NotFound` if no provider is meant, with `Forbidden` for an agent without access to its owner's data, and
   * with `UpstreamFailure` for a provider that cannot be asked.
   */
  readonly get: (
    workspace: ExternalAuthWorkspace,
    query: ExternalAuthQuery
  ) => Effect.Effect<AgentExternalAuthToken, Invalid | Forbidden | NotFound | UpstreamFailure, CurrentActor>

  /** Returns the token as soon as the workspace's owner has a valid one. Fails like `get`, except that it also waits for a provider. */
  readonly wait: (
    workspace: ExternalAuthWorkspace,
    query: ExternalAuthQuery
  ) => Effect.Effect<AgentExternalAuthToken, Invalid | Forbidden | NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const declarations = yield* ExternalAuthDeclarations
  const tokens = yield* ExternalAuthTokens
  const clients = yield* ExternalAuthClients
  const bus = yield* EventBus
  const { accessUrl } = yield* DeploymentOptions
  const clientOf = (id: string) => clients.find(({ provider }) => provider.id === id)

  const byAddress = (workspace: ExternalAuthWorkspace, address: string) =>
    Effect.gen(function* () {
      const declared = yield* declarations.ofVersion(workspace.template_version_id)
      const serving = declared.flatMap(({ id }) => {
        const client = clientOf(id)
        return client !== undefined && servesAddress(client.provider, address) ? [client] : []
      })
      const [only] = serving
      if (serving.length > 1) {
        return yield* new NotFound({
          message: `The address matches several providers of the template: ${named(serving.map(({ provider }) => provider.id))}.`
        })
      }
      if (only !== undefined) return only
      const unknown = declared.filter(({ id }) => clientOf(id) === undefined)
      if (unknown.length > 0) {
        return yield* new NotFound({
          message: `The template needs providers that the deployment does not have: ${named(unknown.map(({ id }) => id))}.`
        })
      }
      const last = clients.findLast(({ provider }) => servesAddress(provider, address))
      return last ?? (yield* new NotFound({ message: "No external authentication provider matches the address." }))
    })

  /** The provider that an agent of a workspace asks for. agents-and-apps.md §10. */
  const choose = (workspace: ExternalAuthWorkspace, { id, match }: ExternalAuthQuery) =>
    Effect.gen(function* () {
      if ((id === "") === (match === "")) return yield* new Invalid({ message: "Exactly one of id and match has to be given." })
      const client = id === "" ? yield* byAddress(workspace, match) : clientOf(id)
      if (client === undefined) return yield* new NotFound({ resource: "external_auth" })
      yield* Access.authorize("read_personal", AccessObjects.user({ id: workspace.owner_id }))
      return client
    })

  /** The tokens of the workspace's owner as programs use them. */
  const viewOf = (client: ExternalAuthClient, { access_token, expires_at, extra }: ExternalAuthTokenSet): AgentExternalAuthToken => {
    const username = usernames[client.provider.type]
    return {
      access_token,
      ...(username === undefined
        ? { username: access_token, password: nothing }
        : { username: Redacted.make(username), password: access_token }),
      type: client.provider.type,
      token_extra: extra,
      expires_at,
      url: ""
    }
  }

  return {
    get: Traced.fn("AgentExternalAuth.get")(function* (workspace: ExternalAuthWorkspace, query: ExternalAuthQuery) {
      const client = yield* choose(workspace, query)
      const missing: AgentExternalAuthToken = {
        access_token: nothing,
        username: nothing,
        password: nothing,
        type: "",
        token_extra: null,
        expires_at: null,
        url: `${accessUrl}/external-auth/${client.provider.id}`
      }
      const current = yield* Effect.mapError(tokens.current(workspace.owner_id, client), upstreamFailure)
      return current.authenticated ? viewOf(client, current.tokens) : missing
    }),

    wait: Traced.fn("AgentExternalAuth.wait")(function* (workspace: ExternalAuthWorkspace, query: ExternalAuthQuery) {
      const client = yield* choose(workspace, query)
      let next = yield* Deferred.make<void>()
      const wake = Effect.provideService(
        listen(newLinksOf(workspace.owner_id), (delivery) => {
          if (delivery._tag === "Lost" || delivery.event.provider_id === client.provider.id) Deferred.unsafeDone(next, Effect.void)
        }),
        EventBus,
        bus
      )
      return yield* Effect.scoped(
        Effect.gen(function* () {
          yield* wake
          while (true) {
            const valid = yield* tokens.awaited(workspace.owner_id, client)
            if (valid !== undefined) return viewOf(client, valid)
            yield* Effect.timeoutOption(Deferred.await(next), recheck)
            next = yield* Deferred.make<void>()
          }
        })
      )
    })
  }
})

/** The tokens of external providers that agents get for their workspaces' owners. */
export class AgentExternalAuth extends Context.Tag("@atelier/core/AgentExternalAuth")<AgentExternalAuth, AgentExternalAuthService>() {
  static readonly layer = standingOn(service(AgentExternalAuth, make), ExternalAuthTokens.layer)
}
