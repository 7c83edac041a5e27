/**
 * Runs what a user's claim of a prebuilt workspace and the first command run, before there is a user: V8 has then compiled it. Otherwise both take three
 * times as much processor time, while the user waits. The agent talks with itself, so no other process, log or list shows the rehearsal.
 */
import { type Duration, Effect, Mailbox, Option, Redacted, Stream } from "effect"
import { AgentMessages, ReverseStream, Session, TokenOffer, type Transport, TransportError } from "@atelier/agent-protocol"
import type { AgentConfig } from "../AgentConfig.js"
import * as Place from "../environment/Place.js"
import * as Machine from "../machine/Machine.js"
import * as Processes from "../machine/processes/Processes.js"
import type { Marks } from "../scripts/Marks.js"
import * as ReverseStreams from "../streams/ReverseStreams.js"
import * as Tokens from "./Tokens.js"
import { takingTokens } from "./takingTokens.js"

/** The user name of the owner of prebuilt workspaces. */
const poolOwner = "prebuilds"

/** How long the agent has been ready: others of the pool may be about to start. */
const after: Duration.DurationInput = "1 second"

/** A few turns: V8 compiles what has run more than once. */
const turns = 3

/** Chunks on the way in each direction. */
const capacity = 16

/** Both ends of a connection in memory. */
const transportPair: Effect.Effect<readonly [Transport, Transport]> = Effect.gen(function* () {
  const there = yield* Mailbox.make<Uint8Array>(capacity)
  const back = yield* Mailbox.make<Uint8Array>(capacity)
  const end = (inbox: Mailbox.Mailbox<Uint8Array>, outbox: Mailbox.Mailbox<Uint8Array>): Transport => ({
    receive: (take) => Stream.runForEach(Mailbox.toStream(inbox), (bytes) => Effect.sync(() => take(bytes))),
    send: (bytes) =>
      Effect.filterOrFail(
        outbox.offer(bytes),
        (isOpen) => isOpen,
        () => new TransportError({ cause: "closed" })
      ),
    close: () => Effect.zipRight(there.end, back.end)
  })
  return [end(back, there), end(there, back)] as const
})

const body = JSON.stringify({ program: "true" })

const request = Buffer.from(
  [
    "POST /exec HTTP/1.1",
    "host: agent",
    "connection: close",
    "content-type: application/json",
    `content-length: ${body.length}`,
    "",
    body
  ].join("\r\n")
)

/** The part of the server: a token with a manifest, and a command. */
const asked = (server: Session.Session, manifest: Uint8Array) =>
  Effect.gen(function* () {
    yield* TokenOffer.give(yield* ReverseStream.open(server, { kind: "token" }), Redacted.make("rehearsal"), manifest)
    const stream = yield* ReverseStream.open(server, { kind: "machine" })
    yield* stream.write(request)
    yield* Effect.repeat(stream.read, { while: Option.isSome })
  }).pipe(Effect.scoped)

interface Rehearsed {
  readonly config: AgentConfig
  readonly marks: Marks
  readonly place: Place.Place
  readonly manifest: AgentMessages.Manifest
  readonly services: Omit<ReverseStreams.Services, "token" | "machine">
}

/** Whether the agent's workspace waits for a user. */
export const isWanted = ({ owner_username }: AgentMessages.Manifest): boolean => owner_username === poolOwner

/** Rehearses once, after a while. It never fails: a real claim reports the same error. */
export const rehearse = ({ config, manifest, marks, place, services }: Rehearsed): Effect.Effect<void> =>
  Effect.gen(function* () {
    const machine = yield* Machine.make([yield* Processes.make(Effect.succeed(place), marks.within())])
    const tokens = Tokens.make(config.token)
    const token = takingTokens(tokens, {
      offered: () => undefined,
      use: () => Effect.void,
      // The owner of the pool has no secrets, and the directory is there
      adopt: (_, given) => Effect.scoped(Place.prepare(config, given))
    })
    const encoded = yield* AgentMessages.Manifest.encode(manifest)
    const [there, here] = yield* transportPair
    const server = yield* Session.make(there, { role: "server" })
    const session = yield* Session.make(here, { role: "client" })
    yield* Effect.forkScoped(ReverseStreams.serve(session, { ...services, machine, token }))
    yield* Effect.replicateEffect(asked(server, encoded), turns, { discard: true })
  }).pipe(
    Effect.scoped,
    Effect.timeoutOption("10 seconds"),
    Effect.catchAllCause((cause) => Effect.logDebug("The rehearsal failed", cause)),
    Effect.delay(after),
    Effect.asVoid
  )
