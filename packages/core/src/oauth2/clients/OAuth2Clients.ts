import { Context, Effect, Option } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { constantTimeEquals, type Cryptography } from "../../platform/secrets/Cryptography.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { parse, type Uuid } from "../../platform/texts/Uuid.js"
import { idOfDocument, isDocumentUrl } from "./ClientDocument.js"
import { documentedClients } from "./DocumentedClients.js"
import { hasSecrets, type OAuth2App } from "./OAuth2App.js"
import { OAuth2Apps } from "./OAuth2Apps.js"
import { OAuth2AppRepository } from "./OAuth2AppRepository.js"
import { invalidClient, invalidRequest, type OAuthError } from "../OAuthError.js"
import { hashText, presentedSecret } from "../tokens/OAuthSecret.js"
import { UsedTokens } from "../tokens/UsedTokens.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"

/** A client that has proven who it is, or that has no means to. */
export interface AuthenticatedClient {
  readonly app: OAuth2App
  /** The secret that it presented; none for public clients, and where none was presented. */
  readonly secretId: Uuid | null
  /** Whether it has proven who it is. */
  readonly isProven: boolean
}

/** Fails unless the client has proven who it is, as far as it can. oauth2-provider.md P-7, P-13. */
export const requireAuthenticated = ({ app, isProven }: AuthenticatedClient): Effect.Effect<void, OAuthError> =>
  app.client_type === "confidential" && !isProven ? invalidClient : Effect.void

/** The methods of {@link OAuth2Clients}. */
export interface OAuth2ClientsService {
  /**
   * The client of an id: a UUID, or the `https` URL of a document that describes the client. The document is read again after 10 minutes, whichever
   * of its ids the client is named by. Fails with `OAuthError`.
   */
  readonly get: (...args: [id: string | undefined]) => Effect.Effect<OAuth2App, OAuthError>

  /** The client of an id as it is stored, for the end of its permissions: a client whose document has gone must not keep them. Fails as `get` does. */
  readonly stored: (...args: [id: string | undefined]) => Effect.Effect<OAuth2App, OAuthError>

  /** Authenticates a client with a secret. A client that presents none stays unauthenticated: its `secretId` is null. */
  readonly authenticate: (app: OAuth2App, secret: string | undefined) => Effect.Effect<AuthenticatedClient, OAuthError, Cryptography>

  /**
   * Admits a client with an assertion that one of its keys has signed, once (RFC 7523 §3). The caller has checked the signature, the issuer, the
   * subject, the audience and the time.
   */
  readonly admit: (
    app: OAuth2App,
    assertion: { readonly id: string; readonly expires_at: Timestamp.Timestamp }
  ) => Effect.Effect<AuthenticatedClient, OAuthError, Cryptography>
}

const make = Effect.gen(function* () {
  const repository = yield* OAuth2AppRepository
  const used = yield* UsedTokens
  const { brand } = yield* DeploymentOptions
  const { registrationEnabled } = yield* OAuth2Apps
  const documented = yield* documentedClients({ repository, admitted: registrationEnabled })

  const cryptography = yield* Effect.context<Cryptography>()

  /** Fails in the same way for an id that is malformed and for one that is unknown. */
  const stored = (id: string | undefined) =>
    Effect.gen(function* () {
      if (id === undefined || id === "") return yield* invalidRequest("The parameter client_id is required.")
      const uuid = isDocumentUrl(id) ? idOfDocument(yield* Effect.provide(hashText(id), cryptography)) : parse(id)
      const found = uuid === undefined ? Option.none() : yield* repository.byId(uuid)
      return Option.isSome(found) ? found.value : yield* invalidClient
    })

  const get = (id: string | undefined) =>
    Effect.gen(function* () {
      if (id !== undefined && isDocumentUrl(id)) return yield* documented(id)
      const app = yield* stored(id)
      return app.metadata.client_id === undefined ? app : yield* documented(app.metadata.client_id)
    })

  /** The id of the app's secret that a text is. */
  const verify = (app: OAuth2App, text: string) =>
    Effect.gen(function* () {
      const presented = yield* presentedSecret(brand, text)
      if (presented === undefined || !hasSecrets(app)) return yield* invalidClient
      const found = yield* repository.secretByPrefix(presented.prefix)
      if (Option.isNone(found) || found.value.app_id !== app.id) return yield* invalidClient
      if (!constantTimeEquals(found.value.hashed_secret, presented.hashedSecret)) return yield* invalidClient
      const now = yield* Timestamp.now
      yield* repository.recordSecretUse(found.value.id, now, Timestamp.minus(now, "1 minute"))
      return found.value.id
    })

  return {
    get: Traced.fn("OAuth2Clients.get")(get),

    stored: Traced.fn("OAuth2Clients.stored")(stored),

    authenticate: Traced.fn("OAuth2Clients.authenticate")(function* (app: OAuth2App, secret: string | undefined) {
      const secretId = secret === undefined || secret === "" ? null : yield* verify(app, secret)
      return { app, secretId, isProven: secretId !== null } satisfies AuthenticatedClient
    }),

    admit: Traced.fn("OAuth2Clients.admit")(function* (
      app: OAuth2App,
      assertion: { readonly id: string; readonly expires_at: Timestamp.Timestamp }
    ) {
      if (app.token_endpoint_auth_method !== "private_key_jwt") return yield* invalidClient
      if (!(yield* used.use(`client_assertion ${app.id}`, assertion.id, assertion.expires_at))) return yield* invalidClient
      return { app, secretId: null, isProven: true } satisfies AuthenticatedClient
    })
  }
})

/** Looks clients up and checks their secrets. oauth2-provider.md §2, §7 no. 2. */
export class OAuth2Clients extends Context.Tag("@atelier/core/OAuth2Clients")<OAuth2Clients, OAuth2ClientsService>() {
  static readonly layer = standingOn(service(OAuth2Clients, make), UsedTokens.layer, OAuth2Apps.layer)
}
