/** Ports of workspaces that have the network of the daemon's machine. */
import { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, it } from "vitest"
import { parse } from "../src/DaemonAddress.js"
import { make } from "../src/DockerDaemon.js"
import { machinePorts, portOf } from "../src/MachinePorts.js"
import { makeWorkspaceContainers } from "../src/WorkspaceContainers.js"
import { makeWorkspaceVolumes } from "../src/WorkspaceVolumes.js"
import { daemon, removeAll, skipped } from "./daemon.js"

const [one, other] = ["0190a2f0-0000-7000-8000-000000000001", "0190a2f0-0000-7000-8000-000000000002"].map((id) => Uuid.Uuid.make(id)) as [
  Uuid.Uuid,
  Uuid.Uuid
]

it("a workspace has the same port at each start, and never one that another has", () => {
  const port = portOf(one, new Map())
  expect(port).toBeGreaterThanOrEqual(20_000)
  expect(port).toBeLessThan(30_000)
  expect(portOf(one, new Map([[one, port]]))).toBe(port)
  expect(portOf(other, new Map())).not.toBe(port)
  expect(portOf(one, new Map([[other, port]]))).toBe(port === 29_999 ? 20_000 : port + 1)
})

it("a port that another workspace's stop frees at that moment is reserved", async () => {
  let looks = 0
  const server = createServer(({ method }, response) => {
    const isGone = method === "GET" && looks++ === 0
    const volume = { Name: "atelier-port-20000", Labels: { "atelier.dev/workspace-id": one } }
    response
      .writeHead(isGone ? 404 : 200, { "Content-Type": "application/json" })
      .end(JSON.stringify(isGone ? { message: "no such volume" } : volume))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  try {
    const address = Effect.runSync(parse(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, undefined))
    expect(await Effect.runPromise(makeWorkspaceVolumes(make(address), "default").reservePort(one, 20_000))).toBe(one)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

it.skipIf(daemon === undefined)(`workspaces that start at one moment get ports of their own${skipped}`, async () => {
  const deployment = `ports-${process.pid}`
  const port = portOf(one, new Map())
  const ids = Array.from({ length: 200_000 }, (_, index) => Uuid.Uuid.make(`0190a2f0-0000-7000-8000-${String(index).padStart(12, "0")}`))
  const alike = ids.filter((id) => portOf(id, new Map()) === port).slice(0, 4)
  /** Each as a server of its own, which knows nothing of the others' starts. */
  const portFor = (id: Uuid.Uuid) => {
    const client = make(Effect.runSync(parse(daemon, undefined)))
    const containers = makeWorkspaceContainers(client, deployment)
    const volumes = makeWorkspaceVolumes(client, deployment)
    return Effect.runPromise(machinePorts({ containers, volumes, networks: { isShared: Effect.succeed(true) } })(id))
  }
  try {
    const ports = await Promise.all(alike.map(portFor))
    expect(new Set(ports).size).toBe(4)
    expect(await Promise.all(alike.map(portFor))).toStrictEqual(ports)
  } finally {
    await removeAll(deployment)
  }
})
