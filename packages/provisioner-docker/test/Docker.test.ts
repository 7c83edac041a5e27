/** Workspaces at a real Docker daemon, whose address is in `ATELIER_TEST_DOCKER_HOST`. */
import { builds, type Client, workspaces } from "@atelier/client"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freePort, Server } from "../../atelier/test/Server.js"
import { agentOf, firstClient, isRunning, outputOf, templateFrom, untilWorkspace } from "../../atelier/test/Steps.js"
import { daemon, giveImage, left, removeAll, skipped } from "./daemon.js"

const deployment = `test-${process.pid}`

describe.skipIf(daemon === undefined)(`workspaces in Docker${skipped}`, { timeout: 240_000 }, () => {
  let server: Server
  let client: Client
  let directory: string

  beforeAll(async () => {
    giveImage("image", "test-node:1")
    giveImage("static", "test-static:1")
    directory = await mkdtemp(join(tmpdir(), "atelier-docker-"))
    server = await Server.start({
      port: await freePort(),
      database: `sqlite:${join(directory, "atelier.db")}`,
      workspacesDirectory: join(directory, "workspaces"),
      args: ["--engines", "docker", "--docker-host", daemon ?? "", "--docker-deployment", deployment]
    })
    client = await firstClient(server.url)
  }, 240_000)

  afterAll(async () => {
    await server?.kill()
    await removeAll(deployment)
    await rm(directory, { recursive: true, force: true })
  })

  it("keep their home directory over a stop, hold their memory limit, and leave nothing after a delete", async () => {
    await templateFrom(client, "node", {
      files: {
        "template.yaml": `agents:
  - name: main
    container:
      image: test-node:1
      user: dev
      memory: 256Mi
`
      }
    })
    const sandbox = await client.sandboxes.create({ template: "node" })
    expect(await sandbox.exec("id -u; pwd; echo $HOME; echo kept > file")).toMatchObject({
      stdout: "1000\n/home/dev\n/home/dev\n",
      exitCode: 0
    })
    const greedy = await sandbox.exec(`node -e 'const all = []; for (;;) all.push(Buffer.alloc(16e6, 1))'`)
    expect(greedy.exitCode).not.toBe(0)
    const { id } = sandbox
    await builds.createWorkspaceBuild(client, { workspace: id, body: { transition: "stop" } })
    await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "stopped")
    expect(await left(deployment)).toStrictEqual([`atelier-${id}-main--home`])
    await builds.createWorkspaceBuild(client, { workspace: id, body: { transition: "start" } })
    await untilWorkspace(client, id, isRunning)
    expect((await (await client.sandboxes.get(sandbox.id)).exec("cat file")).stdout).toBe("kept\n")
    await sandbox.delete({ wait: true })
    expect(await left(deployment)).toStrictEqual([])
  })

  it("run an image of a static busybox that is built of a Dockerfile, with a terminal", async () => {
    await templateFrom(client, "static", {
      files: {
        "template.yaml": "agents:\n  - name: main\n    container:\n      build:\n        context: image\n",
        "image/Dockerfile": "FROM test-static:1\nRUN echo built > /built\n"
      }
    })
    const sandbox = await client.sandboxes.create({ template: "static" })
    expect((await sandbox.exec("cat /built")).stdout).toBe("built\n")
    // Its programs have no C library in common with the agent
    const terminal = await sandbox.terminal()
    await terminal.input.getWriter().write("tty && stty size; exit\n")
    let screen = ""
    for await (const bytes of terminal.output) screen += new TextDecoder().decode(bytes)
    expect(screen).toMatch(/\/dev\/pts\/\d+\s+24 80/)
    await sandbox.delete({ wait: true })
  })

  it("have an init and few rights, and say in the agent's log that a sidecar has ended", async () => {
    await templateFrom(client, "sidecar", {
      files: {
        "template.yaml": `agents:
  - name: main
    container:
      image: test-static:1
      sidecars:
        - name: db
          image: test-static:1
          command: [sh, -c, "exit 3"]
`
      }
    })
    const sandbox = await client.sandboxes.create({ template: "sidecar" })
    expect((await sandbox.exec("cat /proc/1/comm; grep -E '^(NoNewPrivs|CapBnd)' /proc/self/status")).stdout).toBe(
      "docker-init\nCapBnd:\t00000000000404fb\nNoNewPrivs:\t1\n"
    )
    const running = await workspaces.getWorkspace(client, { workspace: sandbox.id })
    expect(await outputOf(client, agentOf(running), 1)).toContain(
      "The sidecar db has ended with the exit code 3. The Docker daemon starts it again."
    )
    await sandbox.delete({ wait: true })
    expect(await left(deployment)).toStrictEqual([])
  })

  it("say what a container has written that did not run its agent, and leave nothing", async () => {
    await templateFrom(client, "broken", {
      files: {
        "template.yaml": `agents:
  - name: main
    container:
      image: test-static:1
      entrypoint: [sh, -c, "echo it cannot work; exit 1"]
`
      }
    })
    const log: Array<string> = []
    const created = client.sandboxes.create({ template: "broken", onProgress: ({ output }) => void log.push(output) })
    await expect(created).rejects.toThrow(/main/)
    const at = log.indexOf("The last lines of the container:")
    expect(log.slice(at, at + 2)).toStrictEqual(["The last lines of the container:", "it cannot work"])
    expect(await left(deployment)).toStrictEqual([])
  })

  it("say which image is missing, and leave nothing", async () => {
    await templateFrom(client, "missing", {
      files: { "template.yaml": "agents:\n  - name: main\n    container:\n      image: no-such-image:1\n" }
    })
    await expect(client.sandboxes.create({ template: "missing" })).rejects.toThrow(/no-such-image:1/)
    expect(await left(deployment)).toStrictEqual([])
  })
})
