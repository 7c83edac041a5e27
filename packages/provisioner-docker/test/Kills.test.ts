/** What kill -9 of a server leaves of builds at a real daemon. `scripts/reliability/docker.mjs` kills at random, and more often. */
import { type Client, type Template, type Workspace } from "@atelier/client"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freePort, Server, type ServerOptions } from "../../atelier/test/Server.js"
import { build, firstClient, isRunning, outputOfCommand, templateFrom, untilWorkspace, workspaceFrom } from "../../atelier/test/Steps.js"
import { daemon, docker, giveImage, left, leftWithPorts, removeAll, skipped } from "./daemon.js"

const deployment = `kills-${process.pid}`

/** The step of a Dockerfile that no other process has. */
const step = `sleep 2.${process.pid}`

describe.skipIf(daemon === undefined)(`builds whose server is killed${skipped}`, { timeout: 240_000 }, () => {
  let directory: string
  let options: ServerOptions
  let server: Server
  let client: Client
  let built: Template

  beforeAll(async () => {
    giveImage("static", "test-static:1")
    directory = await mkdtemp(join(tmpdir(), "atelier-docker-kills-"))
    options = {
      port: await freePort(),
      database: `sqlite:${join(directory, "atelier.db")}`,
      workspacesDirectory: join(directory, "workspaces"),
      args: ["--engines=docker", `--docker-host=${daemon}`, `--docker-deployment=${deployment}`]
    }
    server = await Server.start(options)
    client = await firstClient(server.url)
    built = await templateFrom(client, "built", {
      files: {
        "template.yaml": `agents:
  - name: main
    container:
      build: { context: image, args: { name: "\${workspace.name}" } }
      sidecars: [{ name: side, image: test-static:1, command: [sh, -c, "trap exit TERM; sleep 1000 & wait"] }]
`,
        "image/Dockerfile": `FROM test-static:1\nARG name\nRUN ${step}; echo $name > /name\n`
      }
    })
  }, 240_000)

  afterAll(async () => {
    await server?.kill()
    await removeAll(deployment)
    await rm(directory, { recursive: true, force: true })
  })

  const containers = (filter: string) =>
    docker("ps", "--all", "--no-trunc", "--filter", filter, "--format", "{{.Names}} {{.State}} {{.Command}}").then((all) => all.split("\n"))
  const ofWorkspace = ({ id }: Workspace) => containers(`label=atelier.dev/workspace-id=${id}`)

  const until = async (what: () => Promise<boolean>) => {
    await expect.poll(what, { timeout: 60_000, interval: 20 }).toBe(true)
  }

  const killed = async () => {
    await server.kill()
    server = await Server.start(options)
  }

  it("go on with the next server, and nothing is doubled or left", async () => {
    const stages: ReadonlyArray<(workspace: Workspace) => Promise<boolean>> = [
      async () => (await containers("status=running")).some((line) => line.includes(step)),
      async (workspace) => (await ofWorkspace(workspace)).some((line) => line.includes("-main ")),
      async (workspace) => (await ofWorkspace(workspace)).some((line) => line.includes("-main running"))
    ]
    const made: Array<Workspace> = []
    // A job may lose three servers, so that the first one may meet each kill
    for (const isThere of stages) {
      const workspace = await workspaceFrom(client, built, `w${made.length}`)
      made.push(workspace)
      await until(() => isThere(workspace))
      await killed()
    }
    for (const { id, name } of made) {
      const running = await untilWorkspace(client, id, isRunning)
      expect(running.latest_build).toMatchObject({ build_number: 1, status: "running" })
      const container = `atelier-${id}-main`
      expect((await left(deployment, id)).toSorted()).toStrictEqual([container, `${container}--home`, `${container}.side`])
      expect(await outputOfCommand(client, id, "cat /name")).toBe(`${name}\n`)
    }
    for (const workspace of made) await build(client, workspace, "delete")
    await until(async () => (await left(deployment)).length < 3 * made.length)
    await killed()
    for (const { id } of made) await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "deleted")
    expect(await leftWithPorts(deployment)).toStrictEqual([])
    expect((await containers("status=exited")).filter((line) => line.includes(step))).toStrictEqual([])
  })
})
