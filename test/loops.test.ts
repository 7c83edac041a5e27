/** Loops that nothing starts again after a failure: all background work begins in one of two modules, whose loops survive. */
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The modules whose loops survive, those with loops of one connection, which a failure of the loop is to end, and one whose first failure is that of the start. */
const allowed: ReadonlyArray<string> = [
  "packages/agent/src/Loop.ts",
  "packages/core/src/platform/background/Background.ts",
  "packages/agent/src/Agent.ts",
  "packages/agent/src/streams/ReverseStreams.ts",
  "packages/http/src/replicas/serveStreams.ts",
  "packages/node/src/agentSocket.ts",
  "packages/storage-postgres/src/EventBus.ts"
]

const sourcesOf = (name: string): ReadonlyArray<string> =>
  readdirSync(join(root, "packages", name, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))

it("background work that repeats is started in one way", () => {
  const files = readdirSync(join(root, "packages")).flatMap(sourcesOf)
  expect(files.length).toBeGreaterThan(500)
  const others = files.filter((file) => /Effect\.forever|Schedule\.forever/.test(readFileSync(file, "utf8")))
  expect(others.map((file) => relative(root, file)).toSorted()).toStrictEqual(allowed.toSorted())
})

it("bounds of time are not left to a signal that garbage collection may take", () => {
  const files = readdirSync(join(root, "packages")).flatMap(sourcesOf)
  // Node holds a signal of `AbortSignal.timeout` for whom listens to it, and not for a signal that `AbortSignal.any` makes of it
  const unbounded = files.filter((file) => /AbortSignal\.any\(/.test(readFileSync(file, "utf8")))
  expect(unbounded.map((file) => relative(root, file))).toStrictEqual([])
})

it("work of the services that outlives its fiber has no part in a transaction of it", () => {
  const forks = sourcesOf("core").flatMap((file) =>
    Array.from(readFileSync(file, "utf8").matchAll(/(afterwards,\s+)?Effect\.fork\w+(\(afterwards\()?/g), ([fork, piped, wrapped]) => ({
      fork: `${relative(root, file)}: ${fork}`,
      isApart: piped !== undefined || wrapped !== undefined
    }))
  )
  expect(forks.length).toBeGreaterThan(10)
  expect(forks.filter(({ isApart }) => !isApart).map(({ fork }) => fork)).toStrictEqual([])
})
