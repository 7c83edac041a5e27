/** How a workspace proxy tells the service where it is. agents-and-apps.md §21. */
import { Background, reasonOf, StartError } from "@atelier/core/platform"
import { Cause, Data, Effect, Exit, Fiber, Option, Redacted, Ref, Schema, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import type { Names } from "../wire/Brand.js"
import { version } from "../programs/version.js"
import type { SilentConnections } from "./SilentConnections.js"

export interface Registrant {
  /** Where the proxy reaches the service. */
  readonly primaryAccessUrl: string
  /** Where visitors reach the proxy. */
  readonly accessUrl: string
  readonly wildcardAccessUrl: string
  readonly token: Redacted.Redacted<string>
  readonly names: Names
  /** The proxy's other connections to the service, which are told whether it answers. */
  readonly connections: SilentConnections
}

/** A process that has told nothing for 15 s counts as dead. */
const every = "5 seconds"

/** Milliseconds that the service may take to answer: with `every` it is noticed within 15 s that it does not. */
export const answerWithin = 6_000

/** Milliseconds more that a service takes which was slow, and has answered a later question. */
const lateWithin = 1_000

/** The service did not take the registration. `status` is its answer's; absent without one. */
class Unregistered extends Data.TaggedError("Unregistered")<{ readonly message: string; readonly status?: number }> {}

const Refusal = Schema.Struct({ message: Schema.String })

/** Which option the service refuses, by the status of its answer. */
const optionOf = (status: number): string => (status === 401 ? "token" : status === 400 ? "accessUrl" : "primaryAccessUrl")

const post = (
  { names, primaryAccessUrl, token }: Registrant,
  operation: string,
  registration: object,
  within = answerWithin
): Effect.Effect<void, Unregistered> =>
  Effect.gen(function* () {
    const { answer, body } = yield* Effect.tryPromise({
      try: (signal) =>
        fetch(`${primaryAccessUrl}/api/v2/workspaceproxies/me/${operation}`, {
          method: "POST",
          headers: { "content-type": "application/json", [names.proxyTokenHeader]: Redacted.value(token) },
          body: JSON.stringify(registration),
          redirect: "error",
          signal
        }).then(async (answer) => ({ answer, body: (await answer.json().catch(() => undefined)) as unknown })),
      catch: (error) => new Unregistered({ message: reasonOf(error) })
    }).pipe(
      // The end of the scope cannot be interrupted, but this call can
      Effect.interruptible,
      Effect.timeoutFail({
        duration: within,
        onTimeout: () => new Unregistered({ message: `the service did not answer within ${within / 1_000} seconds` })
      })
    )
    if (answer.ok) return
    const { message } = yield* Effect.orElseSucceed(Schema.decodeUnknown(Refusal)(body), () => ({
      message: `The service answers with status ${answer.status}.`
    }))
    return yield* new Unregistered({ message, status: answer.status })
  })

/** Whether the service has said anything, be it a refusal. */
const isAnswer = Exit.match({
  onSuccess: () => true,
  onFailure: (cause: Cause.Cause<Unregistered>) => Option.exists(Cause.failureOption(cause), ({ status }) => status !== undefined)
})

/**
 * Registers this process until the scope closes. `problem` says why the last attempt failed; undefined after one that did not. Fails with
 * `StartError` when the service refuses the first attempt; a service that cannot be reached is tried again.
 */
export const keepRegistered = (
  registrant: Registrant,
  problem: Ref.Ref<string | undefined>
): Effect.Effect<void, StartError, Scope.Scope> =>
  Effect.gen(function* () {
    const replica_id = randomUUID()
    const { connections } = registrant
    const registration = {
      access_url: registrant.accessUrl,
      wildcard_hostname: registrant.wildcardAccessUrl,
      derp_enabled: false,
      derp_only: false,
      replica_id,
      replica_hostname: hostname(),
      replica_error: "",
      replica_relay_address: "",
      version
    }
    const posted = (within: number) => post(registrant, "register", registration, within)
    /** The service may have closed a kept connection as the request was on its way. */
    const asked = Effect.retry(posted(2 * answerWithin + lateWithin), { times: 1, while: ({ status }) => status === undefined })
    /**
     * A question that is not answered in time is asked again, over another connection: the service may answer, and only the connections that there were be
     * lost. The first question waits on: a service that was slow answers both, and has lost nothing.
     */
    const attempt = Effect.gen(function* () {
      connections.asked()
      const first = yield* Effect.forkScoped(Effect.exit(asked))
      const inTime = yield* Effect.timeoutOption(Fiber.join(first), answerWithin)
      if (Option.isSome(inTime)) return yield* inTime.value
      const suspected = performance.now()
      connections.suspect()
      yield* Ref.set(problem, `the service did not answer within ${answerWithin / 1_000} seconds`)
      const second = yield* Effect.exit(posted(answerWithin))
      const late = yield* Effect.timeoutOption(Fiber.join(first), lateWithin)
      if (!Option.exists(late, isAnswer)) connections.giveUp(isAnswer(second) ? suspected : performance.now())
      return yield* second
    }).pipe(Effect.scoped)
    let told: string | undefined
    const noted = attempt.pipe(
      Effect.zipRight(Ref.set(problem, undefined)),
      Effect.flatMap(() => {
        const before = told
        told = undefined
        return before === undefined ? Effect.void : Effect.logInfo("the workspace proxy is registered again")
      }),
      Effect.catchAll(({ message }) =>
        Effect.zipRight(
          Ref.set(problem, message),
          Effect.suspend(() => {
            const before = told
            told = message
            return before === message ? Effect.void : Effect.logWarning(`the workspace proxy cannot be registered: ${message}`)
          })
        )
      )
    )
    // The service asks for the proxy's health while it answers
    yield* Ref.set(problem, undefined)
    yield* Effect.catchAll(attempt, ({ message, status }) =>
      status === undefined || status >= 500 ? noted : new StartError({ option: optionOf(status), reason: message })
    )
    yield* Effect.addFinalizer(() => Effect.ignore(post(registrant, "deregister", { replica_id })))
    yield* Background.repeat("proxy_registration", Effect.delay(noted, every))
  })
