/** What kill -9 of a server leaves of builds in a real cluster. `scripts/reliability/kubernetes.mjs` kills at random, and more often. */
import type { Client, Template, Workspace } from "@atelier/client"
import { Effect, Exit, Scope } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import type { Server as Listener } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Server, type ServerOptions } from "../../atelier/test/Server.js"
import { build, firstClient, isRunning, outputOfCommand, templateFrom, untilWorkspace, workspaceFrom } from "../../atelier/test/Steps.js"
import { aNamespace, image, kubeconfig, skipped, type TestNamespace } from "./cluster.js"
import { patience } from "../../atelier/test/within.js"
import { aPlace, left, story, unpackRuntime } from "./server.js"

const source = `
agents:
  - name: main
    container: { image: "${image}", cpus: 0.1, memory: 128Mi, disk: 16Mi }
`

const deployment = "kills"

describe.skipIf(kubeconfig === undefined)(`builds whose server is killed${skipped}`, { timeout: 900_000 }, () => {
  let scope: Scope.CloseableScope
  let namespace: TestNamespace
  let directory: string
  let listener: Listener
  let options: ServerOptions
  let server: Server
  let client: Client
  let template: Template

  beforeEach(async () => {
    scope = Effect.runSync(Scope.make())
    namespace = await Effect.runPromise(Scope.extend(aNamespace, scope))
    directory = await mkdtemp(join(tmpdir(), "atelier-kubernetes-"))
    const runtime = join(directory, "runtime")
    await unpackRuntime(runtime)
    const place = await aPlace({ namespace, directory, runtime, kind: "SQLite", deployment })
    listener = place.listener
    options = place.server
    server = await Server.start(options)
    client = await firstClient(server.url)
    template = await templateFrom(client, "pod", { files: { "template.yaml": source } })
  })

  afterEach(async () => {
    await server?.kill()
    listener?.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await rm(directory, { recursive: true, force: true })
  })

  const until = async (message: string, is: () => Promise<boolean>) => {
    await expect.poll(is, { timeout: patience, interval: 20, message }).toBe(true)
  }

  const killed = async () => {
    await server.kill()
    server = await Server.start(options)
  }

  const goOn = async () => {
    const made: Array<Workspace> = []
    for (const kind of ["persistentvolumeclaims", "secrets", "pods"]) {
      const workspace = await workspaceFrom(client, template, `w${made.length}`)
      made.push(workspace)
      await until(`the ${kind} are made`, async () =>
        (await left(namespace, deployment, workspace.id)).some((name) => name.startsWith(kind))
      )
      await killed()
    }
    for (const { id } of made) {
      const { latest_build } = await untilWorkspace(client, id, isRunning)
      expect(latest_build).toMatchObject({ build_number: 1, status: "running" })
      const name = `atelier-${id}-main`
      expect(await left(namespace, deployment, id)).toStrictEqual([
        `pods ${name}`,
        `secrets ${name}`,
        `persistentvolumeclaims ${name}--home`
      ])
      expect(await outputOfCommand(client, id, "echo $HOME")).toBe("/home/workspace\n")
    }
    for (const workspace of made) await build(client, workspace, "delete")
    await until("the deletions begin", async () => (await left(namespace, deployment)).length < 3 * made.length)
    await killed()
    for (const { id } of made) await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "deleted")
    expect(await left(namespace, deployment)).toStrictEqual([])
  }

  it("go on with the next server, and nothing is doubled or left", async () => {
    try {
      await goOn()
    } catch (error) {
      throw new Error(`${String(error)}\n${await story(namespace, server, client)}`, { cause: error })
    }
  })
})
