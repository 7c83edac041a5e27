/** A server whose workspaces are Pods of a real cluster, as its users have it. */
import { agents, type Client, type Workspace, workspaces } from "@atelier/client"
import { Uuid } from "@atelier/core/platform"
import { Effect, Exit, Option, Scope } from "effect"
import type { Server as Listener } from "node:net"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Server } from "../../atelier/test/Server.js"
import { agentOf, firstClient } from "../../atelier/test/Steps.js"
import { patience } from "../../atelier/test/within.js"
import { type Machine, type Starter, userLife } from "../../provisioner/test/container/userLife.js"
import { Pod, Secret } from "../src/cluster/Objects.js"
import { volumeObject } from "../src/render/Names.js"
import { aNamespace, giveImage, image, kubeconfig, nodeImage, skipped, type TestNamespace } from "./cluster.js"
import { aPlace, left, story, unpackRuntime } from "./server.js"

const run = Effect.runPromise

const starter: Starter = {
  name: "kubernetes-pod",
  parameters: { memory: "1" },
  place: "1000\n/home/dev\n",
  app: "app",
  page: /^Hello from Node v/,
  volumes: ["home"],
  shown: { image: nodeImage, cpus: "1", memory: "1024 MiB", disk: "5120 MiB" }
}

describe.skipIf(kubeconfig === undefined)(`a server with a cluster${skipped}`, { timeout: 900_000 }, () => {
  const listeners: Array<Listener> = []
  let scope: Scope.CloseableScope
  let namespace: TestNamespace
  let directory: string
  let runtime: string

  beforeAll(async () => {
    giveImage("static", `${image}0`)
    giveImage("node", nodeImage)
    directory = await mkdtemp(join(tmpdir(), "atelier-kubernetes-"))
    runtime = join(directory, "runtime")
    await unpackRuntime(runtime)
  }, 240_000)

  // Another attempt meets nothing of an earlier one
  beforeEach(async () => {
    scope = Effect.runSync(Scope.make())
    namespace = await run(Scope.extend(aNamespace, scope))
  })

  afterEach(async () => {
    for (const listener of listeners.splice(0)) listener.close()
    await run(Scope.close(scope, Exit.void))
  })

  afterAll(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  const podOf = async ({ id }: Pick<Workspace, "id">): Promise<Pod> => {
    const pods = await run(namespace.resources.list("pods", Pod, namespace.name, {}))
    const [found, ...others] = pods.filter(({ metadata }) => metadata.labels?.["atelier.dev/workspace-id"] === id)
    expect(others).toStrictEqual([])
    if (found === undefined) throw new Error(`the workspace ${id} has no Pod`)
    return found
  }

  const tokenOf = async ({ metadata: { name } }: Pod) =>
    Option.getOrThrow(await run(namespace.resources.get("secrets", Secret, namespace.name, name))).data?.["token"]

  const machineOf = (deployment: string): Machine => ({
    engine: "kubernetes",
    images: [image, `${image}0`],
    startLine: "The Pod runs on the node",
    actions: ["schedule", "prepare", "connect"],
    stuck: [
      {
        name: "stuck",
        files: { "template.yaml": "agents: [{ name: main, container: { image: localhost/none:1, disk: 16Mi } }]\n" },
        line: "Made the Pod"
      }
    ],
    walls: /CapBnd:\s0+\n(?:.*\n)*NoNewPrivs:\s1\nSeccomp:\s2\n/,
    idOf: async (workspace) => (await podOf(workspace)).metadata.uid,
    shownOf: async (workspace) => {
      const { metadata, spec, status } = await podOf(workspace)
      return { pod: `${namespace.name}/${metadata.name}`, node: spec?.nodeName, address: status?.podIP }
    },
    volumeOf: ({ id }, volume) => `persistentvolumeclaims ${volumeObject(Uuid.Uuid.make(id), "main", volume)}`,
    left: (workspace) => left(namespace, deployment, workspace),
    // A Pod that is deleted by hand comes back with its volume, and the agent's log says so
    crash: async (workspace) => {
      const pod = await podOf(workspace)
      const pooled = await tokenOf(pod)
      return async (client: Client) => {
        await expect.poll(() => tokenOf(pod), { timeout: patience }).not.toBe(pooled)
        await run(namespace.resources.remove("pods", namespace.name, pod.metadata.name))
        const { id: workspaceagent } = agentOf(await workspaces.getWorkspace(client, { workspace: workspace.id }))
        for await (const rows of agents.followAgentLogs(client, { workspaceagent }, { signal: AbortSignal.timeout(patience) }))
          if (rows.some(({ output }) => /is started again/.test(output))) break
        await expect.poll(async () => (await podOf(workspace)).metadata.uid, { timeout: patience }).not.toBe(pod.metadata.uid)
      }
    }
  })

  // A server with Docker keeps it on SQLite: what an engine does and what a database keeps do not meet
  it("keeps what a user does, on PostgreSQL", async () => {
    const deployment = "life"
    const place = await aPlace({ namespace, directory, runtime, kind: "PostgreSQL", deployment })
    listeners.push(place.listener)
    const server = await Server.start(place.server)
    const client = await firstClient(server.url)
    try {
      await userLife(client, machineOf(deployment), [starter])
    } catch (error) {
      throw new Error(`${String(error)}\n${await story(namespace, server, client)}`, { cause: error })
    } finally {
      await server.stop()
    }
  })
})
