import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { AgentMessages, Pty, ReverseStream, type Session, TokenOffer } from "@atelier/agent-protocol"
import { Deferred, Effect, Fiber, Option, Redacted } from "effect"
import { aScript, runAgent, serve } from "../TestServer.js"
import { call } from "./machineClient.js"
import { isAlive, numberIn, untilGone } from "./processes.js"

/** Gives the agent a token on the connection that it has. */
const inPlace = (session: Session.Session, manifest: AgentMessages.ManifestInit) =>
  Effect.gen(function* () {
    const stream = yield* ReverseStream.open(session, { kind: "token" })
    const said = ['{"token":"the-next-token"}', '{"done":true}'].map((text) => Buffer.from(`\0${String.fromCharCode(text.length)}${text}`))
    const giver = { read: Effect.sync(() => Option.fromNullable(said.shift())), write: () => Effect.void }
    const encoded = yield* AgentMessages.Manifest.encode(manifest)
    yield* TokenOffer.pass(giver, stream, (_, tell) => tell(encoded))
  })

/** Has the agent connect with a token. */
const anew = (session: Session.Session) =>
  Effect.gen(function* () {
    const offer = yield* ReverseStream.open(session, { kind: "token" })
    yield* Effect.flatten(TokenOffer.offer(offer, Redacted.make("the-next-token")))
  })

for (const [way, handOver] of [
  ["on the connection that there is", inPlace],
  ["by another connection", anew]
] as const) {
  it.scopedLive(`a hand-over ${way} ends what callers have started, with what it left in the background, and no process of a script`, () =>
    Effect.gen(function* () {
      const script = aScript("sleep 1000 >/dev/null 2>&1 & echo $! > script")
      let manifest: AgentMessages.ManifestInit = { owner_username: "prebuilds", scripts: [script] }
      const server = yield* serve({ handlers: { GetManifest: () => Effect.sync(() => manifest) } })
      let offers = 0
      const { home } = yield* runAgent(server, {}, () => void offers++)
      yield* server.until(() => server.states().includes("READY"))
      expect(offers).toBe(0)
      const session = yield* Effect.fromNullable(server.session())

      const inBackground = "nohup setsid sleep 1000 >/dev/null 2>&1 & echo $! >"
      yield* call(session, "POST", "/exec", { command: `${inBackground} exec` })
      yield* call(session, "POST", "/processes", { command: `${inBackground} ended` })
      yield* call(session, "POST", "/processes", { command: `echo $$ > running; exec sleep 1000` })
      const terminal = yield* ReverseStream.open(session, { kind: "pty" })
      const init = { ID: randomUUID(), Height: 24, Width: 80, Container: "", ContainerUser: "", BackendType: "" }
      yield* terminal.write(yield* Pty.encodeInit({ ...init, Command: `${inBackground} terminal; exec sleep 1000` }))
      const begun = ["exec", "ended", "running", "terminal"].map((name) => numberIn(join(home, name)))
      const pids = yield* Effect.all(begun)
      expect(pids.map(isAlive)).toStrictEqual([true, true, true, true])

      manifest = { ...manifest, owner_username: "amelia" }
      yield* handOver(session, manifest)
      expect(offers).toBe(1)
      yield* Effect.forEach(pids, untilGone)
      expect(isAlive(Number(yield* Effect.promise(() => readFile(join(home, "script"), "utf8"))))).toBe(true)
      const again = yield* Effect.fromNullable(server.session())
      expect(again === session).toBe(handOver === inPlace)
      const named = yield* call(again, "POST", "/exec", { command: 'printf %s "$SERVICE_WORKSPACE_OWNER_NAME"' })
      expect(named).toMatchObject({ status: 200, body: { exit_code: 0, stdout: "amelia" } })
    })
  )
}

it.scopedLive("the first command on the connection of a new token has the environment of the new owner", () =>
  Effect.gen(function* () {
    const asked = yield* Deferred.make<void>()
    const answered = yield* Deferred.make<void>()
    let manifest: Effect.Effect<AgentMessages.ManifestInit> = Effect.succeed({ owner_username: "prebuilds" })
    const server = yield* serve({ handlers: { GetManifest: () => Effect.suspend(() => manifest) } })
    yield* runAgent(server)
    yield* server.until(() => server.states().includes("READY"))

    manifest = Effect.zipRight(Deferred.succeed(asked, undefined), Effect.as(Deferred.await(answered), { owner_username: "amelia" }))
    const offer = yield* ReverseStream.open(yield* Effect.fromNullable(server.session()), { kind: "token" })
    const using = yield* Effect.fork(Effect.flatten(TokenOffer.offer(offer, Redacted.make("the-next-token"))))
    yield* Deferred.await(asked)
    const early = call(yield* Effect.fromNullable(server.session()), "POST", "/exec", {
      command: 'printf %s "$SERVICE_WORKSPACE_OWNER_NAME"'
    })
    const first = yield* Effect.fork(early)
    // The command is sent before the manifest
    yield* Effect.yieldNow()
    yield* Deferred.succeed(answered, undefined)
    yield* Fiber.join(using)
    expect(yield* Fiber.join(first)).toMatchObject({ status: 200, body: { exit_code: 0, stdout: "amelia" } })
  })
)
