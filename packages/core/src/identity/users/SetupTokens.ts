import { Context, Effect, Encoding, Option, Redacted } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { DeploymentValues } from "../../deployment/DeploymentValues.js"
import { constantTimeEquals, Cryptography, hashSecret, randomAlphanumeric } from "../../platform/secrets/Cryptography.js"
import { Forbidden } from "../../platform/Errors.js"
import { service } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"

/** Who creates the first user of a deployment. */
export interface SetupCaller {
  /** Whether the caller is on the server's own machine, or is the program itself. */
  readonly isLocal: boolean
  /** Whether the caller asks for the access URL's host or a loopback one. A page that reaches the server by DNS rebinding asks for a name of its own. */
  readonly isKnownHost: boolean
  /** The set-up token that the caller shows; empty without one. */
  readonly token: Redacted.Redacted<string>
}

/** The program that embeds the service. */
export const ownProgram: SetupCaller = { isLocal: true, isKnownHost: true, token: Redacted.make("") }

/** The value of the option that lets any caller create the first user. */
export const noSetupToken = "none"

const valueKey = "setup_token"

/** Characters of a token: 190 bits. */
const tokenLength = 32

const refused = new Forbidden({
  message: "The first user of this deployment needs its set-up token: open the link that the server printed at its last start."
})

const unknownHost = new Forbidden({
  message: "The first user of this deployment is created at its access URL. The request asks for another host.",
  detail: "Open the access URL, or set the option `setupToken` and send its value."
})

/** The methods of {@link SetupTokens}. */
export interface SetupTokensService {
  /**
   * Returns a token for the first user, in place of the one before, and requires one of other machines from now on. Its hash alone is stored.
   * `proposed` is the token that processes of one server share. Returns none where the options name the token, or require none.
   */
  readonly issue: (
    proposed?: Redacted.Redacted<string>
  ) => Effect.Effect<Option.None<Redacted.Redacted<string>> | Option.Some<Redacted.Redacted<string>>>

  /** Whether a caller needs a token. */
  readonly isNeeded: (caller: Pick<SetupCaller, "isLocal">) => Effect.Effect<boolean>

  /** Fails with `Forbidden` unless the caller may create the first user. */
  readonly authorize: (caller: SetupCaller) => Effect.Effect<undefined, Forbidden>
}

const make = Effect.gen(function* () {
  const { setupToken } = yield* DeploymentOptions
  const values = yield* DeploymentValues
  const cryptography = yield* Cryptography
  const given = Redacted.value(setupToken)

  const hashOf = (token: string): Effect.Effect<string> => Effect.map(hashSecret(cryptography, token), Encoding.encodeHex)

  /** The hash of the token that other machines need; none where they need none. */
  const expected = Effect.suspend((): Effect.Effect<Option.Option<string>> => {
    if (given === noSetupToken) return Effect.succeedNone
    return given === "" ? values.get(valueKey) : Effect.asSome(hashOf(given))
  })

  return {
    issue: Traced.fn("SetupTokens.issue")(function* (proposed?: Redacted.Redacted<string>) {
      if (given !== "") return Option.none()
      const token = proposed ?? Redacted.make(yield* Effect.provideService(randomAlphanumeric(tokenLength), Cryptography, cryptography))
      yield* values.put(valueKey, yield* hashOf(Redacted.value(token)))
      return Option.some(token)
    }),

    isNeeded: ({ isLocal }: Pick<SetupCaller, "isLocal">) => (isLocal ? Effect.succeed(false) : Effect.map(expected, Option.isSome)),

    authorize: ({ isKnownHost, isLocal, token }: SetupCaller) =>
      Effect.gen(function* () {
        if (isLocal) return
        const hash = yield* expected
        if (Option.isNone(hash)) {
          if (given !== noSetupToken && !isKnownHost) return yield* unknownHost
          return
        }
        const shown = yield* hashOf(Redacted.value(token))
        const encoder = new TextEncoder()
        if (!constantTimeEquals(encoder.encode(shown), encoder.encode(hash.value))) return yield* refused
      })
  }
})

/** The token by which the operator of a new deployment is known, before it has users. Each start of a server may replace it. */
export class SetupTokens extends Context.Tag("@atelier/core/SetupTokens")<SetupTokens, SetupTokensService>() {
  static readonly layer = service(SetupTokens, make)
}
