import { createClient, users } from "@atelier/client"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url))

it("a server composed of the packages creates its first user, and ends", async (test) => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-example-"))
  test.onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const child = spawn(process.execPath, [main, "0", directory], { stdio: ["ignore", "pipe", "inherit"] })
  test.onTestFinished(() => void child.kill("SIGKILL"))
  const ended = once(child, "exit")
  const listens = createInterface(child.stdout)[Symbol.asyncIterator]()
  let line = ""
  while (!line.startsWith("listens on ")) line = (await listens.next()).value ?? "listens on nothing"

  const client = createClient({ baseUrl: line.slice("listens on ".length) })
  const body = { email: "ada@example.com", username: "ada", password: "correct horse battery" }
  const { user_id } = await users.createFirstUser(client, { body })
  expect(user_id).toMatch(/^[0-9a-f-]{36}$/)
  child.kill("SIGTERM")
  expect(await ended).toStrictEqual([0, null])
})
