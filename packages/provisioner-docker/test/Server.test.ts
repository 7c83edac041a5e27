/** A server whose workspaces are containers of a real daemon, as its users have it. */
import type { Workspace } from "@atelier/client"
import { tokenFile } from "@atelier/provisioner/container"
import { once } from "node:events"
import { type AddressInfo, createServer, type Server as Listener } from "node:net"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from "vitest"
import { freePort, Server } from "../../atelier/test/Server.js"
import { firstClient } from "../../atelier/test/Steps.js"
import { patience } from "../../atelier/test/within.js"
import { type Machine, type Starter, userLife } from "../../provisioner/test/container/userLife.js"
import { publishInstalled, type Registry, startRegistry } from "../../../test/outside/registry.js"
import { daemon, docker, giveImage, leftWithPorts, removeAll, skipped } from "./daemon.js"

const image = "atelier-test-life"

const starters: ReadonlyArray<Starter> = [
  {
    name: "docker-node",
    parameters: { memory: "1" },
    place: "1001\n/home/node/app\n",
    app: "app",
    page: /^Hello from Node v/,
    volumes: ["home"],
    shown: { image: "node:22", cpus: "2", memory: "1024 MiB" }
  },
  {
    name: "docker-python",
    place: "0\n/root\n",
    app: "files",
    page: /Directory listing for/,
    laterPage: /"note"/,
    volumes: ["home", "venv"],
    shown: { image: "python:3.13-slim", memory: "2048 MiB" }
  },
  {
    name: "docker-compose-like",
    place: "1001\n/home/node/app\n",
    app: "app",
    page: /^Visits: \d+\n$/,
    laterPage: /^Visits: (?:[2-9]|\d\d+)\n$/,
    volumes: ["data", "home"],
    shown: { image: "node:22", memory: "2048 MiB" }
  }
]

const containerOf = ({ id }: Pick<Workspace, "id">): string => `atelier-${id}-main`

const idOf = (workspace: Workspace) => docker("inspect", "--format", "{{.Id}}", containerOf(workspace))

/** Each attempt has a deployment of its own, so that it meets nothing of the one before. */
let attempts = 0

describe.skipIf(daemon === undefined)(`a server with Docker${skipped}`, { timeout: 600_000 }, () => {
  let npm: Registry
  let silent: Listener

  beforeAll(async () => {
    giveImage("static", `${image}:first`)
    giveImage("static", `${image}:second`)
    giveImage("python", "python:3.13-slim")
    giveImage("postgres", "postgres:17")
    npm = await startRegistry()
    await publishInstalled(npm.url, "pg")
    giveImage("node", `${image}:node`)
    // The image of Node, whose npm asks this test's registry
    const container = await docker("create", `${image}:node`, "none")
    await docker("commit", "--change", `ENV npm_config_registry=${npm.url}`, container, "node:22")
    await docker("rm", container)
    // A registry of images that never answers
    silent = createServer(() => undefined).listen(0, "127.0.0.1")
    await once(silent, "listening")
  }, 240_000)

  afterAll(() => {
    npm?.close()
    silent?.close()
  })

  const machineOf = (deployment: string, step: string): Machine => ({
    engine: "docker",
    images: [`${image}:first`, `${image}:second`],
    startLine: "The container of the agent main has been started.",
    actions: ["pull", "fill", "create", "start", "connect"],
    stuck: [
      {
        name: "slow",
        files: {
          "template.yaml": `agents: [{ name: main, container: { image: "localhost:${(silent.address() as AddressInfo).port}/none:1" } }]\n`
        },
        line: "Pulling the image"
      },
      {
        name: "built",
        files: {
          "template.yaml": "agents: [{ name: main, container: { build: { context: image } } }]\n",
          "image/Dockerfile": `FROM ${image}:first\nRUN ${step}\n`
        },
        line: step
      }
    ],
    walls: /CapBnd:\s00000000000404fb\n(?:.*\n)*NoNewPrivs:\s1\nSeccomp:\s2\n/,
    idOf,
    shownOf: (workspace) => Promise.resolve({ container: containerOf(workspace) }),
    volumeOf: (workspace, volume) => `${containerOf(workspace)}--${volume}`,
    left: (workspace) => leftWithPorts(deployment, workspace),
    crash: async (workspace) => {
      const container = await idOf(workspace)
      const token = () => docker("exec", container, "cat", tokenFile)
      const pooled = await token()
      return async () => {
        // The container's own token follows behind the answer
        await expect.poll(token, { timeout: patience }).not.toBe(pooled)
        await docker("restart", "--time", "1", container)
      }
    }
  })

  // A server with a cluster keeps it on PostgreSQL: what an engine does and what a database keeps do not meet
  it("keeps what a user does, on SQLite", async () => {
    const deployment = `life-${process.pid}-${++attempts}`
    const step = `sleep ${100_000 + attempts}.${process.pid}`
    const directory = await mkdtemp(join(tmpdir(), "atelier-docker-life-"))
    const server = await Server.start({
      port: await freePort(),
      database: `sqlite:${join(directory, "life.db")}`,
      workspacesDirectory: join(directory, "workspaces"),
      args: [
        "--engines=docker",
        `--docker-host=${daemon}`,
        `--docker-deployment=${deployment}`,
        "--workspace-prebuilds-reconciliation-interval=1s",
        "--allow-workspace-renames=true"
      ]
    })
    onTestFailed(() => void process.stderr.write(server.log))
    try {
      await userLife(await firstClient(server.url), machineOf(deployment, step), starters)
      // The daemon ends a build's step a moment after its caller has gone
      await expect.poll(() => docker("ps", "--all", "--no-trunc", "--format", "{{.Command}}"), { timeout: patience }).not.toContain(step)
    } finally {
      await server.stop()
      await removeAll(deployment)
      await rm(directory, { recursive: true, force: true })
    }
  })
})
