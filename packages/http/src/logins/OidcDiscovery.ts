/** A provider's discovery document, kept up to date (OpenID Connect Discovery 1.0). */
import { ProviderFailure } from "@atelier/core/identity"
import { Background, Monotonic } from "@atelier/core/platform"
import { Effect, type Scope } from "effect"
import { createRemoteJWKSet, customFetch as joseFetch, type JWTVerifyGetKey } from "jose"
import * as client from "openid-client"
import { answerTimeout, boundedFetch } from "./boundedFetch.js"
import { failedReading } from "./OidcFailures.js"

/** Milliseconds that a discovery document is good for. */
const discoveryLifetime = 60 * 60 * 1000

/** Milliseconds after which a failed discovery is tried again. */
const discoveryRetry = 60 * 1000

/** How long a start waits for the document. A provider that takes longer is asked by a loop, which asks once more each time it has waited so long. */
const patience = "3 seconds"

/** Milliseconds that a provider's keys are good for; an unknown one is looked for at once. */
const keysLifetime = 10 * 60 * 1000

/** Seconds that clocks may differ by. */
export const clockTolerance = 30

/** A provider as its document describes it. */
export interface Discovered {
  readonly configuration: client.Configuration
  readonly metadata: client.ServerMetadata
  readonly keys: JWTVerifyGetKey
  /** In milliseconds of `Monotonic`. */
  readonly until: number
}

/** Which provider it is, and who asks it. */
export interface Discovery {
  readonly issuerUrl: URL
  readonly clientId: string
  /** Empty for a client without one. */
  readonly clientSecret: string
  /** Takes the document of whichever issuer. */
  readonly skipsIssuerChecks: boolean
}

/** In the head, unless the provider takes the secret in the form alone (OpenID Connect Discovery §3). */
const withSecret = (secret: string): client.ClientAuth => {
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]
  return (server, ...request) => {
    const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = server
    const isPost = !methods.includes("client_secret_basic") && methods.includes("client_secret_post")
    return (isPost ? post : basic)(server, ...request)
  }
}

/**
 * Reads the discovery document. Returns an effect that reads it again once it is old. Fails if the provider answers without a usable document. If it does
 * not answer, a loop asks again until it does, and the effect fails until then.
 */
export const discovery = ({
  clientId,
  clientSecret,
  issuerUrl,
  skipsIssuerChecks
}: Discovery): Effect.Effect<Effect.Effect<Discovered, ProviderFailure>, ProviderFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const isInsecure = issuerUrl.protocol === "http:"
    // Named in full, the library takes the document of whichever issuer
    const documentUrl = skipsIssuerChecks ? new URL(`${issuerUrl.href.replace(/\/+$/, "")}/.well-known/openid-configuration`) : issuerUrl

    const discover = (known?: Discovered): Effect.Effect<Discovered, ProviderFailure> =>
      Effect.gen(function* () {
        const configuration = yield* Effect.tryPromise({
          try: () =>
            client.discovery(
              documentUrl,
              clientId,
              { [client.clockTolerance]: clockTolerance },
              clientSecret === "" ? client.None() : withSecret(clientSecret),
              {
                timeout: answerTimeout,
                [client.customFetch]: (url, { body, headers, method, signal }) =>
                  // The library sends a form
                  boundedFetch(url, { headers, method, signal, body: body instanceof URLSearchParams ? body : null }),
                ...(isInsecure ? { execute: [client.allowInsecureRequests] } : {})
              }
            ),
          catch: failedReading("The provider's discovery document could not be read.")
        })
        const metadata = configuration.serverMetadata()
        const { jwks_uri = "" } = metadata
        const isAllowed = jwks_uri.startsWith("https:") || (isInsecure && jwks_uri.startsWith("http:"))
        if (!isAllowed) return yield* new ProviderFailure({ message: "The provider's discovery document names no keys." })
        const isSame = known?.metadata.jwks_uri === jwks_uri
        return {
          configuration,
          metadata,
          keys: isSame ? known.keys : remoteKeys(jwks_uri),
          until: (yield* Monotonic.now) + discoveryLifetime
        }
      })

    /** The document that was read last, or the failure of the last attempt. */
    let latest = yield* discover().pipe(
      Effect.timeoutFail({ duration: patience, onTimeout: () => unanswered }),
      Effect.catchIf(
        ({ isAway }) => isAway === true,
        (failure) => Effect.succeed(failure)
      )
    )
    if (latest instanceof ProviderFailure) {
      const asking = Effect.tap(
        Effect.tapError(askingAgain(discover()), (failure) => Effect.sync(() => void (latest = failure))),
        (found) => void (latest = found)
      )
      yield* Background.repeat(
        "identity_provider",
        Effect.suspend(() => (latest instanceof ProviderFailure ? asking : Effect.never))
      )
    }
    const oneAtATime = Effect.unsafeMakeSemaphore(1).withPermits(1)

    return oneAtATime(
      Effect.gen(function* () {
        if (latest instanceof ProviderFailure) return yield* latest
        const now = yield* Monotonic.now
        if (now < latest.until) return latest
        const known = latest
        // A provider that cannot be asked for its document now is the one it was
        const read = yield* Effect.catchAll(discover(known), ({ detail, message }) =>
          Effect.as(Effect.logWarning(message, { detail }), { ...known, until: now + discoveryRetry })
        )
        latest = read
        return read
      })
    )
  })

/**
 * Asks, and asks twice more while nothing answers. The first end of one is the end of all: a question that was lost while the provider was silent does not
 * delay what the next one finds out.
 */
const askingAgain = <A, E>(ask: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const later = <A2, E2>(next: Effect.Effect<A2, E2>): Effect.Effect<A2, E2> => Effect.delay(next, patience)
  return Effect.raceFirst(ask, later(Effect.raceFirst(ask, later(ask))))
}

const unanswered = new ProviderFailure({ message: "The provider's discovery document could not be read.", isAway: true })

/** Fetched when they are needed; a token of a key that is not among them fetches them again, as it comes from the provider itself. */
const remoteKeys = (url: string): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(url), {
    cacheMaxAge: keysLifetime,
    cooldownDuration: 0,
    timeoutDuration: answerTimeout * 1000,
    [joseFetch]: (address, request) => boundedFetch(address, request)
  })
