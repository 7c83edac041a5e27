/** What every mount of the examples has to do, with the example as a process of its own and a real agent. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { freePort } from "../../packages/atelier/test/Server.js"
import {
  agentOf,
  clientOf,
  firstToken,
  isRunning,
  outputOf,
  templateFrom,
  untilWorkspace,
  workspaceFrom
} from "../../packages/atelier/test/Steps.js"

const template = [
  "agents:",
  "  - name: main",
  "    startup_script_behavior: blocking",
  // The script's parent is the agent
  "    startup_script: echo agent $PPID"
].join("\n")

/** How long a process may take to end when it is asked to, in milliseconds. */
const patience = 60_000

/** Tests a program that serves Atelier below `/workspaces` and a page of its own at `/`, from its built file below `examples`. */
export const mountTest = (name: string, file: string): void => {
  it.concurrent(`${name}: an agent connects, a log and a workspace are followed, and the process ends`, async () => {
    const directory = await mkdtemp(join(tmpdir(), "atelier-mount-"))
    const port = await freePort()
    const program = fileURLToPath(new URL(`../../examples/${file}`, import.meta.url))
    const child = spawn(process.execPath, [program, String(port), directory], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"] ?? "", PORT: String(port), DIRECTORY: directory }
    })
    const output: Array<string> = []
    const exited = once(child, "exit")
    let agentPid: number | undefined
    try {
      child.stderr.on("data", (chunk: Buffer) => output.push(chunk.toString()))
      await new Promise<void>((resolve, reject) => {
        createInterface(child.stdout).on("line", (line) => {
          output.push(`${line}\n`)
          if (line === "listening") resolve()
        })
        child.once("exit", (code) => reject(new Error(`the program ended with ${code}:\n${output.join("")}`)))
      })

      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("the application's own page")
      const url = `http://127.0.0.1:${port}/workspaces`
      const token = await firstToken(url)
      const client = clientOf(url, token)
      const mounted = await templateFrom(client, "mounted", { files: { "template.yaml": template } })
      const created = await workspaceFrom(client, mounted, "first")
      const running = await untilWorkspace(client, created.id, isRunning)
      const [line = ""] = await outputOf(client, agentOf(running), 1)
      expect(line).toMatch(/^agent \d+$/)
      agentPid = Number(line.slice("agent ".length))

      // The streams that are open at the end of the program, besides the agent's own connection
      const headers = { "Service-Session-Token": token }
      const watch = await fetch(`${url}/api/v2/workspaces/${created.id}/watch`, { headers })
      const log = new WebSocket(`${url.replace("http", "ws")}/api/v2/workspaceagents/${agentOf(running).id}/logs?follow`, {
        headers
      })
      await once(log, "message")
      const closed = once(log, "close")
      if (watch.body === null) throw new Error("the watch has no body")
      const events = watch.body.pipeThrough(new TextDecoderStream()).getReader()
      for (let seen = ""; !/^event: data$/m.test(seen);) seen += (await events.read()).value ?? ""
      child.kill("SIGTERM")
      const timer = setTimeout(() => child.kill("SIGKILL"), patience)
      while (!(await events.read()).done);
      expect((await closed)[0]).toBe(1012)
      expect(await exited).toEqual([0, null])
      clearTimeout(timer)
    } catch (error) {
      throw new Error(`${name} wrote:\n${output.join("")}`, { cause: error })
    } finally {
      child.kill("SIGKILL")
      if (agentPid !== undefined) process.kill(agentPid, "SIGKILL")
      await rm(directory, { recursive: true, force: true })
    }
  })
}
