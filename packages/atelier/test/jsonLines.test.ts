import { Effect, Logger } from "effect"
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, vi } from "vitest"
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

it("work goes on while its log cannot be written", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-log-"))
  const file = join(directory, "log.json")
  const logger = jsonLines(file)
  const complaints = vi.spyOn(process.stderr, "write").mockReturnValue(true)
  const log = (text: string) =>
    Effect.logInfo(text).pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)), Effect.as(text), Effect.runPromise)
  await rm(directory, { recursive: true })
  expect([await log("one"), await log("two")]).toStrictEqual(["one", "two"])
  expect(complaints.mock.calls).toStrictEqual([[expect.stringContaining(`The log ${JSON.stringify(file)} cannot be written`)]])
  complaints.mockRestore()
  await mkdir(directory)
  await log("three")
  expect(await readFile(file, "utf8")).toContain("three")
  await rm(directory, { recursive: true })
})

it("a start names the option of a log whose directory is missing", () => {
  expect(() => jsonLines(join(tmpdir(), "no-such-directory", "log.json"))).toThrow(expect.objectContaining({ option: "logJson" }))
})
