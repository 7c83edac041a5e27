/**
 * Messages of existing agents and clients, and of a server that they work with: of 1,403 recorded ones each form once. `sent` is the side of
 * the call. wire-observed.md.
 */
import { AgentService, TailnetService } from "@atelier/agent-protocol"
import { Either, Schema } from "effect"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const Recorded = Schema.parseJson(
  Schema.Struct({
    service: Schema.Literal("Agent", "Tailnet"),
    method: Schema.String,
    sent: Schema.Literal("request", "response"),
    bytes: Schema.Uint8ArrayFromBase64
  })
)

const recorded = readFileSync(new URL("recorded.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => Schema.decodeSync(Recorded)(line))

const methods = new Map(Object.entries({ ...AgentService.methods, ...TailnetService.methods }))

describe("a recorded message", () => {
  it.each(recorded)("$service.$method, $sent, is read and written as the same bytes", ({ bytes, method, sent }) => {
    const found = methods.get(method)
    if (found === undefined) return expect.unreachable(`${method} is a method`)
    const { decode, encode } = sent === "request" ? found.request : found.response
    expect(Either.flatMap(decode(bytes), encode)).toStrictEqual(Either.right(bytes))
  })
})
