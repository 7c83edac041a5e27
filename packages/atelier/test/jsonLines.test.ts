import { Effect, Logger } from "effect"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { jsonLines } from "../src/jsonLines.js"

it("a log of JSON has one object a line, with level and annotations", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-log-"))
  const file = join(directory, "log.json")
  await Effect.logInfo("one\ntwo").pipe(
    Effect.zipRight(Effect.logError("three")),
    Effect.annotateLogs({ request_id: "r1" }),
    Effect.provide(Logger.replace(Logger.defaultLogger, jsonLines(file))),
    Effect.runPromise
  )
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n")
  await rm(directory, { recursive: true })
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { message: "one\ntwo", logLevel: "INFO", annotations: { request_id: "r1" } },
    { message: "three", logLevel: "ERROR", annotations: { request_id: "r1" } }
  ])
})
