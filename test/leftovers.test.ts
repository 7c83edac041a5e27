import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { endLater } from "./run/leftovers.js"

it.skipIf(process.platform !== "linux")(
  "a run's processes and temporary files end with it, though a process has left its group",
  async () => {
    const mark = `/leftovers-${randomUUID()}`
    const left = (path: string) =>
      spawn("sleep", ["600"], { env: { PATH: `${process.env["PATH"]}:${path}` }, detached: true, stdio: "ignore" })
    const [own, other] = [left(mark), left("/another-run")]
    await Promise.all([own, other].map((child) => once(child, "spawn")))
    const ended = once(own, "exit")
    const folder = await mkdtemp(join(tmpdir(), "leftovers-"))
    await writeFile(join(folder, "left"), "")
    const ending = endLater(mark, folder, "ignore")
    ending.stdin?.end()
    expect(await ended).toStrictEqual([null, "SIGKILL"])
    await once(ending, "exit")
    expect(existsSync(folder)).toBe(false)
    expect(other.exitCode ?? other.signalCode).toBeNull()
    other.kill("SIGKILL")
  }
)
