/** The daemon as its operators start it: a process of its own, with a program in place of Terraform. */
import { Schema } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { aTar } from "../../../../../test/records/archives.js"
import { oneDatabase } from "../../../../../test/store/databases.js"
import { ended, fileIdOf, getVersion, upload } from "../../../../../test/http/templates.js"
import { type AgentServer, startAgentServer } from "../../agents/AgentServer.js"
import { version as daemonVersion } from "../../../../provisioner/src/daemon/Version.js"

const built = (path: string): string => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))

/** The program `atelier` has the engines in itself. The daemon's own modules also find the packages of others, and take six times as long to start. */
const bundle = [built("atelier/dist/program.cjs"), "provisionerd"]
const modules = [built("provisioner/dist/daemon/main.js")]

const Key = Schema.Struct({ key: Schema.String })
const Version = Schema.Struct({ id: Schema.String, job: Schema.Struct({ id: Schema.String }) })

/** Plans nothing, once the file `go` is there. It gets no variable of the daemon's environment but the path, which leads to it. */
const terraform = (folder: string, record: string, go: string) => `#!/bin/sh
echo "$1" >> "${record}"
case $1 in
plan) while [ -d "${folder}" ] && [ ! -e "${go}" ]; do sleep 0.02; done;;
show) echo '{"format_version":"1.2","terraform_version":"1.11.4","planned_values":{"root_module":{}},"configuration":{"root_module":{}}}';;
graph) echo 'digraph {}';;
esac
`

const [[, database] = []] = oneDatabase

describe("the program of the daemon", () => {
  let server: AgentServer
  let folder: string
  let secret: string
  const children: Array<ChildProcess> = []

  beforeAll(async () => {
    if (database === undefined) throw new Error("there is no database")
    server = await startAgentServer(database, { entitlements: { has: (feature) => feature === "external_provisioner_daemons" } })
    folder = await mkdtemp(join(tmpdir(), "daemon-program-"))
    const answer = await server.call("POST", "/organizations/default/provisionerkeys", {
      token: server.owner().token,
      body: { name: "far", tags: { site: "far" } }
    })
    secret = answer.as(Key).key
  })
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL")
    await server.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Starts the program; `go` is the file that lets plans end. */
  const launch = (args: ReadonlyArray<string>, { go = "go", name = "one", program = bundle } = {}) => {
    const bin = join(folder, `${name}.bin`)
    mkdirSync(bin, { recursive: true })
    const binary = terraform(folder, join(folder, `${name}.record`), join(folder, go))
    writeFileSync(join(bin, "terraform"), binary, { mode: 0o755 })
    const child = spawn(process.execPath, [...program, "--engine", "terraform", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: `${bin}:${process.env["PATH"]}`, ATELIER_PROVISIONER_KEY: secret }
    })
    children.push(child)
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
    const exit = once(child, "exit").then(([code, signal]: ReadonlyArray<unknown>) => code ?? signal)
    return {
      child,
      exit,
      output: () => output,
      said: (text: string) => vi.waitFor(() => expect(output).toContain(text), { timeout: 60_000, interval: 20 })
    }
  }

  const aDaemon = (name: string, go: string) =>
    launch(["--url", server.url, "--name", name, "--directory", join(folder, name), "--engine", "terraform"], { name, go })

  const anImport = async () => {
    const file_id = fileIdOf(await upload(server, await aTar({ "main.tf": `# ${Math.random()}` })))
    const answer = await server.call("POST", "/organizations/default/templateversions", {
      token: server.owner().token,
      body: { storage_method: "file", provisioner: "terraform", file_id, tags: { site: "far" } }
    })
    return answer.as(Version)
  }

  const untilPlanning = async (name: string) =>
    vi.waitFor(() => expect(existsSync(join(folder, `${name}.record`))).toBe(true), { timeout: 60_000, interval: 20 })

  it("prints its options and its version", async () => {
    const help = launch(["--help"])
    expect(await help.exit).toBe(0)
    expect(help.output()).toMatch(/^Usage: atelier provisionerd --url URL --key KEY/)
    const version = launch(["--version"])
    expect(await version.exit).toBe(0)
    expect(version.output()).toBe(`v${daemonVersion}\n`)
  })

  it("says in one sentence what is wrong with its arguments", async () => {
    const wrong = launch(["--url", server.url, "--engine", "pulumi"], { program: modules })
    expect(await wrong.exit).toBe(2)
    expect(wrong.output()).toBe(
      `--engine: "pulumi" needs the package @atelier/provisioner-pulumi, which is not installed.\nSee atelier-provisioner --help.\n`
    )
  })

  it("says in one sentence that an engine cannot start", async () => {
    await writeFile(join(folder, "file"), "")
    const wrong = launch(["--url", server.url, "--directory", join(folder, "file")])
    expect(await wrong.exit).toBe(1)
    expect(wrong.output().trim().split("\n")).toHaveLength(1)
    expect(wrong.output()).toContain("terraform.directory")
  })

  it("says in one sentence that the server refuses it", async () => {
    const wrong = launch(["--url", server.url, "--directory", join(folder, "refused"), "--key", "y".repeat(43)])
    expect(await wrong.exit).toBe(3)
    expect(wrong.output()).toBe(
      "The server refuses this daemon with 401: A daemon needs a provisioner key, the pre-shared key or a session.\n"
    )
  })

  it("loses no job when it is killed: another daemon takes it", async () => {
    const killed = aDaemon("killed", "never")
    const version = await anImport()
    await untilPlanning("killed")
    killed.child.kill("SIGKILL")
    expect(await killed.exit).toBe("SIGKILL")
    await writeFile(join(folder, "go"), "")
    const next = aDaemon("next", "go")
    await ended(server, version.job as never)
    expect((await getVersion(server, version.id)).job.status).toBe("succeeded")
    next.child.kill("SIGTERM")
    expect(await next.exit).toBe(0)
  })

  it("ends its job before it exits when it gets SIGTERM", async () => {
    const stopping = aDaemon("stopping", "later")
    const version = await anImport()
    await untilPlanning("stopping")
    stopping.child.kill("SIGTERM")
    await writeFile(join(folder, "later"), "")
    expect(await stopping.exit).toBe(0)
    expect((await getVersion(server, version.id)).job.status).toBe("succeeded")
  })

  it("hands its job back at once when it gets a second signal", async () => {
    const stopping = aDaemon("handing", "never")
    const version = await anImport()
    await untilPlanning("handing")
    stopping.child.kill("SIGTERM")
    stopping.child.kill("SIGINT")
    expect(await stopping.exit).toBe(0)
    expect((await getVersion(server, version.id)).job.status).toBe("pending")
    const next = aDaemon("taking", "later")
    await ended(server, version.job as never)
    next.child.kill("SIGTERM")
    expect(await next.exit).toBe(0)
  })
})
