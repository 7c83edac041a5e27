import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { type AgentMessages, ReverseStream, TokenOffer } from "@atelier/agent-protocol"
import { Effect, Redacted } from "effect"
import * as Tokens from "../../src/connection/Tokens.js"
import { aScript, runAgent, serve } from "../TestServer.js"

const next = Redacted.make("the-next-token")

/** Offers the connected agent the next token. What it answers makes the agent use it. */
const offered = (server: Effect.Effect.Success<ReturnType<typeof serve>>) =>
  Effect.flatMap(Effect.fromNullable(server.session()), (session) =>
    Effect.flatMap(ReverseStream.open(session, { kind: "token" }), (stream) => TokenOffer.offer(stream, next))
  )

const presented = (server: Effect.Effect.Success<ReturnType<typeof serve>>) =>
  server.upgrades.map(({ headers }) => headers["service-session-token"])

it.scopedLive("an agent with another token works on with the manifest of that token, and runs what begins with its owner", () =>
  Effect.gen(function* () {
    const once = aScript("echo once >> runs")
    const owner = aScript('echo "$SERVICE_WORKSPACE_OWNER_NAME" > owner', { run_on_start: false })
    let manifest: AgentMessages.ManifestInit = { owner_username: "prebuilds", scripts: [once, owner] }
    const server = yield* serve({ handlers: { GetManifest: () => Effect.sync(() => manifest) } })
    const { home } = yield* runAgent(server)
    yield* server.until(() => server.states().includes("READY"))
    const use = yield* offered(server)
    expect(presented(server)).toStrictEqual(["the-token"])

    manifest = { owner_username: "amelia", scripts: [once, { ...owner, run_on_start: true }] }
    yield* use
    expect(presented(server)).toStrictEqual(["the-token", "the-next-token"])
    yield* server.until(() => server.of("ScriptCompleted").length >= 2)
    expect(readFileSync(join(home, "owner"), "utf8")).toBe("amelia\n")
    expect(readFileSync(join(home, "runs"), "utf8")).toBe("once\n")
    expect(server.states()).toStrictEqual(["STARTING", "READY"])
  })
)

it.scopedLive("an agent that is refused tries the token that it was offered, and begins with its owner", () =>
  Effect.gen(function* () {
    const owner = aScript("touch greeted", { run_on_start: false })
    let manifest: AgentMessages.ManifestInit = { scripts: [owner] }
    let valid = "the-token"
    const server = yield* serve({ handlers: { GetManifest: () => Effect.sync(() => manifest) }, accepts: (token) => token === valid })
    const { home } = yield* runAgent(server)
    yield* server.until(() => server.states().includes("READY"))
    yield* offered(server)
    // The replica dies after the commit, before it says so
    valid = "the-next-token"
    manifest = { scripts: [{ ...owner, run_on_start: true }] }
    yield* server.crash
    yield* server.resume
    yield* server.until(() => server.of("ScriptCompleted").length >= 1)
    expect(existsSync(join(home, "greeted"))).toBe(true)
    expect(presented(server).at(-1)).toBe("the-next-token")
  })
)

it("keeps a few offers, the newest first, and forgets them with the first that is accepted", () => {
  const tokens = Tokens.make(Redacted.make("own"))
  const offers = ["a", "b", "c", "d", "e"].map((text) => Redacted.make(text))
  offers.forEach(tokens.keep)
  expect(tokens.candidates().map(Redacted.value)).toStrictEqual(["own", "e", "d", "c", "b"])
  const [, second] = offers
  if (second !== undefined) tokens.accept(second)
  expect(tokens.candidates().map(Redacted.value)).toStrictEqual(["b"])
})
