import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { expect, it } from "vitest"
import { endLater } from "./run/leftovers.js"

it.skipIf(process.platform !== "linux")("a process of a run ends with the run, though it has left the run's process group", async () => {
  const mark = `/leftovers-${randomUUID()}`
  const left = (path: string) =>
    spawn("sleep", ["600"], { env: { PATH: `${process.env["PATH"]}:${path}` }, detached: true, stdio: "ignore" })
  const [own, other] = [left(mark), left("/another-run")]
  await Promise.all([own, other].map((child) => once(child, "spawn")))
  const ended = once(own, "exit")
  const ending = endLater(mark, "ignore")
  ending.stdin?.end()
  expect(await ended).toStrictEqual([null, "SIGKILL"])
  await once(ending, "exit")
  expect(other.exitCode ?? other.signalCode).toBeNull()
  other.kill("SIGKILL")
})
