/** What containers of a real daemon are held to, and what an operator refuses. */
import type { Client } from "@atelier/client"
import { runtimeArchive } from "@atelier/provisioner/container"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { type AddressInfo, connect, createServer, type Server as Listener } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freePort, Server } from "../../atelier/test/Server.js"
import { firstClient, templateFrom } from "../../atelier/test/Steps.js"
import { daemon, docker, giveImage, left, removeAll, skipped } from "./daemon.js"

const deployment = `limits-${process.pid}`

const template = (...fields: ReadonlyArray<string>) => ({
  files: {
    "template.yaml": `agents:\n  - name: main\n    container:\n      image: test-static:1\n${fields.map((field) => `      ${field}\n`).join("")}`
  }
})

describe.skipIf(daemon === undefined)(`limits of containers${skipped}`, { timeout: 240_000 }, () => {
  let server: Server
  let client: Client
  let directory: string
  let passing: Listener | undefined

  beforeAll(async () => {
    giveImage("static", "test-static:1")
    directory = await mkdtemp(join(tmpdir(), "atelier-docker-limits-"))
    const port = await freePort()
    server = await Server.start({
      port,
      database: `sqlite:${join(directory, "atelier.db")}`,
      workspacesDirectory: join(directory, "workspaces"),
      args: [
        "--engines=docker",
        `--docker-host=${daemon}`,
        `--docker-deployment=${deployment}`,
        `--docker-runtime=${await aRuntime(join(directory, "runtime"))}`,
        `--docker-agent-url=http://127.0.0.1:${await passedOn(port)}`,
        "--docker-pids-limit=64",
        "--docker-default-limits=cpus=0.5,memory=160Mi",
        "--docker-maximum-limits=cpus=1,memory=256Mi,disk=1Gi,gpus=1"
      ]
    })
    client = await firstClient(server.url)
  }, 240_000)

  /** A directory of the agent's runtime, as it is made on a machine of another architecture. */
  const aRuntime = async (folder: string): Promise<string> => {
    await mkdir(folder)
    const { tar } = await Effect.runPromise(runtimeArchive())
    const unpack = spawn("tar", ["-xC", folder], { stdio: ["pipe", "ignore", "inherit"] })
    await Promise.all([pipeline(tar(), unpack.stdin), once(unpack, "close")])
    await writeFile(join(folder, "origin"), "a directory\n")
    return folder
  }

  /** A port of all interfaces that leads to one of the loopback interface, on which a server needs no set-up token. */
  const passedOn = async (port: number): Promise<number> => {
    passing = createServer((socket) => {
      const inner = connect(port, "127.0.0.1")
      socket.on("error", () => inner.destroy())
      inner.on("error", () => socket.destroy())
      socket.pipe(inner).pipe(socket)
    }).listen(0)
    await once(passing, "listening")
    return (passing.address() as AddressInfo).port
  }

  afterAll(async () => {
    passing?.close()
    await server?.kill()
    await removeAll(deployment)
    await rm(directory, { recursive: true, force: true })
  })

  it("hold: cores, memory and processes, with the operator's defaults, the user and the program in front of the agent", async () => {
    await templateFrom(
      client,
      "plain",
      template(
        'user: "1000:1001"',
        "entrypoint: [sh, -c, 'echo front > /tmp/front; exec \"$@\"', sh]",
        "sidecars: [{ name: side, image: test-static:1, command: [sh, -c, 'trap exit TERM; sleep 1000 & wait'], memory: 64Mi }]"
      )
    )
    const sandbox = await client.sandboxes.create({ template: "plain" })
    const { stdout } = await sandbox.exec("id -u; id -g; cat /opt/atelier/origin; cat /tmp/front; cat /proc/1/comm")
    expect(stdout).toMatch(/^1000\n1001\na directory\nfront\n(?!docker-init)/)
    const limits = async (container: string) =>
      docker(
        "inspect",
        "--format",
        "{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.PidsLimit}}",
        container
      )
    const container = `atelier-${sandbox.id}-main`
    const [own, beside] = [160 * 2 ** 20, 64 * 2 ** 20]
    expect(await limits(container)).toBe(`500000000 ${own} ${own} 64`)
    expect(await limits(`${container}.side`)).toBe(`500000000 ${beside} ${beside} 64`)
    const forks = await sandbox.exec("i=0; while [ $i -lt 80 ]; do sleep 3 & i=$((i+1)); done; wait")
    expect(forks.stderr).toMatch(/fork/)
    await sandbox.delete({ wait: true })
    expect(await left(deployment)).toStrictEqual([])
  })

  it.each([
    ["memory: 512Mi", "the container of the agent main: memory: 512 MiB is more than the operator's maximum of 256 MiB"],
    ["cpus: 1.5", "the container of the agent main: cpus: 1.5 is more than the operator's maximum of 1"],
    [
      "sidecars: [{ name: db, image: test-static:1, memory: 1Gi }]",
      "the container of the agent main: the sidecar db: memory: 1024 MiB is more than the operator's maximum of 256 MiB"
    ],
    ["disk: 2Gi", "the container of the agent main: disk: 2048 MiB is more than the operator's maximum of 1024 MiB"],
    ["gpus: 2", "the container of the agent main: gpus: 2 is more than the operator's maximum of 1"],
    ["runtime: runsc", "runtime: the operator does not allow runsc (the option runtimes)"],
    ["privileged: true", "template.yaml:5:19: agents[0].container.privileged: is not allowed here"],
    // An expression is known when it is evaluated
    ["privileged: ${workspace.transition == 'start'}", "privileged"]
  ])("refuse at import: %s", async (field, reason) => {
    await expect(templateFrom(client, "refused", template(field))).rejects.toThrow(reason)
  })

  it("end a build with GPUs that the daemon has not, and leave nothing", async () => {
    await templateFrom(client, "gpus", template("gpus: 1"))
    await expect(client.sandboxes.create({ template: "gpus" })).rejects.toThrow("gpus: the Docker daemon has no driver for them")
    expect(await left(deployment)).toStrictEqual([])
  })

  it("leave a container with network: none the way to the service alone", async () => {
    await templateFrom(client, "closed", template("network: none"))
    const sandbox = await client.sandboxes.create({ template: "closed" })
    // The server itself listens on the loopback interface of the machine, which containers have by default here
    const { port } = new URL(server.url)
    expect(await sandbox.exec(`nc -w 3 127.0.0.1 ${port} < /dev/null`)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("refused")
    })
    await sandbox.delete({ wait: true })
  })
})
