import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { expect, it, onTestFinished } from "vitest"
import { configSsh } from "../src/connect/configSsh.js"
import { makeContexts } from "../src/contexts/Contexts.js"
import { keyStoreOf } from "../src/contexts/KeyStore.js"
import { makeSession } from "../src/Session.js"
import { makeOutput } from "../src/terminal/Output.js"
import { makePrompts } from "../src/terminal/Prompts.js"

it("hosts that are added stay included while others are removed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-ssh-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const contexts = makeContexts(directory, keyStoreOf({ PATH: "/none" }))
  await contexts.write("dev", { url: "http://127.0.0.1", username: "ada", brand: "Service", token: "token" })
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  // Streams that are no terminal
  const streams = { stdin, stdout, stderr } as unknown as Pick<NodeJS.Process, "stdin" | "stdout" | "stderr">
  const { signal } = new AbortController()
  const out = makeOutput({ env: {}, format: "table", isQuiet: true, isDebug: false, ...streams })
  const ask = makePrompts(streams.stdin, streams.stderr, signal)
  const session = makeSession({ program: "atelier", env: {}, ...streams, out, ask, signal, contexts, url: undefined, context: "dev" })
  const sshConfig = join(directory, "config")
  const configured = (suffix: string, remove = false) => configSsh({ suffix, sshConfig, dryRun: false, remove }, session)
  await configured("one")
  for (const [removed, added] of [
    ["one", "two"],
    ["two", "three"],
    ["three", "four"]
  ] as const) {
    await Promise.all([configured(removed, true), configured(added)])
    expect(await readFile(sshConfig, "utf8")).toContain("Include ")
  }
})
