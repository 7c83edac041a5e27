/** Sessions on their way to the host of an app: encrypted, for that host alone, and for a minute. agents-and-apps.md §19. */
import { Timestamp } from "@atelier/core/platform"
import { bareHost } from "@atelier/core/workspaces"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { EncryptJWT, jwtDecrypt } from "jose"
import { appKeys, currentKey } from "./appKeys.js"

/** Seconds in which the browser has to come to the app's host. */
const lifetime = 60

const Handover = Schema.Struct({ api_key: Schema.String, host: Schema.String })

/** How a key is encrypted (RFC 7518 §4.7, §5.3): workspace proxies decrypt it with the deployment's keys. */
const algorithms = { alg: "A256GCMKW", enc: "A256GCM" } as const
const audience = "wsproxy"

/** Returns what encrypts a session's key for a host, and what opens it there. */
export const sealedSessions = (realm: string) =>
  Effect.gen(function* () {
    const issuer = `${realm}d`
    const keys = yield* appKeys("workspace_apps_api_key")

    const seal = (api_key: string, host: string) =>
      Effect.gen(function* () {
        const now = yield* Timestamp.now
        const { secret, sequence } = yield* currentKey(yield* keys, now)
        const seconds = Math.floor(Timestamp.toMillis(now) / 1000)
        return yield* Effect.promise(() =>
          // The key opens at this host only
          new EncryptJWT({ api_key, host: bareHost(host) })
            .setProtectedHeader({ ...algorithms, kid: String(sequence) })
            .setIssuer(issuer)
            .setAudience(audience)
            .setNotBefore(seconds - lifetime)
            .setExpirationTime(seconds + lifetime)
            .encrypt(Redacted.value(secret))
        )
      })

    const opened = (text: string, host: string) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const known = yield* keys
        const { payload } = yield* Effect.tryPromise(() =>
          jwtDecrypt(
            text,
            ({ kid }) => {
              const key = known.find(({ sequence }) => String(sequence) === kid)
              return key === undefined ? Promise.reject(new Error("the key is unknown")) : Redacted.value(key.secret)
            },
            {
              issuer,
              audience,
              currentDate: new Date(now),
              keyManagementAlgorithms: [algorithms.alg],
              contentEncryptionAlgorithms: [algorithms.enc],
              requiredClaims: ["exp", "nbf"]
            }
          )
        )
        const handover = yield* Schema.decodeUnknown(Handover)(payload)
        return handover.host === bareHost(host) ? Option.some(handover.api_key) : Option.none()
      }).pipe(Effect.orElseSucceed(() => Option.none<string>()))

    return { seal, opened }
  })
