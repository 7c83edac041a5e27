/** Loops that nothing starts again after a failure: all background work begins in one of two modules, whose loops survive. */
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The modules whose loops survive, those with loops of one connection, which a failure of the loop is to end, and one whose first failure is that of the start. */
const allowed: ReadonlyArray<string> = [
  "packages/agent/src/Loop.ts",
  "packages/core/src/platform/Background.ts",
  "packages/agent-protocol/src/drpc/DrpcServer.ts",
  "packages/agent-protocol/src/yamux/Session.ts",
  "packages/agent/src/Agent.ts",
  "packages/agent/src/ReverseStreams.ts",
  "packages/node/src/agentSocket.ts",
  "packages/storage-postgres/src/EventBus.ts"
]

it("background work that repeats is started in one way", () => {
  const files = readdirSync(join(root, "packages")).flatMap((name) =>
    readdirSync(join(root, "packages", name, "src"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
      .map((entry) => join(entry.parentPath, entry.name))
  )
  expect(files.length).toBeGreaterThan(500)
  const others = files.filter((file) => /Effect\.forever|Schedule\.forever/.test(readFileSync(file, "utf8")))
  expect(others.map((file) => relative(root, file)).toSorted()).toStrictEqual(allowed.toSorted())
})
