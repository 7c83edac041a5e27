/** A server whose workspaces are Pods of a real cluster, as its users have it. */
import {
  agents,
  builds,
  type Client,
  provisioning,
  reach,
  type Template,
  templateVersions,
  type Workspace,
  workspaces,
  workspaceSettings
} from "@atelier/client"
import { Effect, Exit, Scope } from "effect"
import type { Server as Listener } from "node:net"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Server } from "../../atelier/test/Server.js"
import { patience, within } from "../../atelier/test/within.js"
import { agentOf, build, firstClient, isRunning, templateFrom, untilWorkspace, workspaceFrom } from "../../atelier/test/Steps.js"
import { aTar } from "../../../test/records/archives.js"
import { Pod } from "../src/cluster/Objects.js"
import { aNamespace, image, kubeconfig, skipped, type TestNamespace } from "./cluster.js"
import { aPlace, left, story, unpackRuntime } from "./server.js"

const run = Effect.runPromise

const pool = (title: string) => `
agents:
  - name: main
    container:
      image: ${image}
      cpus: 0.1
      memory: 128Mi
      disk: 16Mi
    apps:
      - { slug: site, display_name: ${title}, url: "http://localhost:8080" }
    scripts:
      - { display_name: site, run_on_start: true, script: "mkdir -p /tmp/site; echo ${title} > /tmp/site/index.html; httpd -p 8080 -h /tmp/site" }
presets:
  - { name: ready, prebuilds: { instances: 1 } }
`

/** The bound of a wait. */
const bounded = () => ({ signal: AbortSignal.timeout(patience) })

const isStopped = ({ latest_build }: Workspace) => latest_build.status === "stopped"

/** The resource of a workspace that runs: what its page shows. */
const shown = ({ latest_build }: Workspace): Readonly<Record<string, string>> =>
  Object.fromEntries(latest_build.resources.flatMap(({ metadata = [] }) => metadata.map(({ key, value }) => [key, value])))

describe.skipIf(kubeconfig === undefined)(`a server with a cluster${skipped}`, { timeout: 900_000 }, () => {
  const listeners: Array<Listener> = []
  let scope: Scope.CloseableScope
  let namespace: TestNamespace
  let directory: string
  let runtime: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "atelier-kubernetes-"))
    runtime = join(directory, "runtime")
    await unpackRuntime(runtime)
  })

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

  const pods = () => run(namespace.resources.list("pods", Pod, namespace.name, {}))

  const podOf = async ({ id }: { readonly id: string }) => {
    const found = (await pods()).filter(({ metadata }) => metadata.labels?.["atelier.dev/workspace-id"] === id)
    expect(found).toHaveLength(1)
    return found[0]
  }

  const aServer = async (kind: "SQLite" | "PostgreSQL", deployment: string) => {
    const place = await aPlace({ namespace, directory, runtime, kind, deployment })
    listeners.push(place.listener)
    return Server.start(place.server)
  }

  it.each(["SQLite", "PostgreSQL"] as const)("keeps what a user of %s does", async (kind) => {
    const deployment = kind.toLowerCase()
    const server = await aServer(kind, deployment)
    const client = await firstClient(server.url)
    try {
      const log: Array<string> = []
      const sandbox = await client.sandboxes.create(
        {
          template: "kubernetes-pod",
          parameters: { image, cpus: "1", memory: "1" },
          onProgress: ({ output }) => log.push(output)
        },
        bounded()
      )
      const { exec, id } = sandbox
      expect(log.join("\n")).toContain("The Pod runs on the node")
      expect(await exec("id -u; pwd; echo kept > note")).toMatchObject({ exitCode: 0, stdout: "1000\n/home/dev\n" })
      expect(await exec("env")).toMatchObject({ stdout: expect.not.stringMatching(/AGENT_TOKEN/) })
      // What docs/security.md says of a Pod
      const { stdout: walls } = await exec("cat /proc/self/status; ls /var/run/secrets 2>&1")
      expect(walls).toMatch(/CapBnd:\s0+\n(?:.*\n)*NoNewPrivs:\s1\n(?:.*\n)*Seccomp:\s2\n(?:.*\n)*.*No such file/)
      const terminal = await sandbox.terminal()
      const writer = terminal.input.getWriter()
      await writer.write("tty && stty size; exit\n")
      let screen = ""
      const shell = async () => {
        for await (const bytes of terminal.output) screen += new TextDecoder().decode(bytes)
      }
      await within("the terminal ends", shell(), { more: () => screen })
      expect(screen).toMatch(/\/dev\/pts\/\d+\s+24 80/)

      const started = await workspaces.getWorkspace(client, { workspace: id })
      const pod = await podOf(sandbox)
      expect(shown(started)).toMatchObject({
        pod: `${namespace.name}/${pod?.metadata.name}`,
        node: pod?.spec?.nodeName,
        address: pod?.status?.podIP,
        image,
        digest: expect.stringMatching(/^sha256:/),
        cpus: "1",
        memory: "1024 MiB",
        disk: "5120 MiB"
      })
      const { provisioner_timings } = await workspaceSettings.getWorkspaceTimings(client, { workspace: id })
      expect(provisioner_timings.map(({ action }) => action)).toEqual(expect.arrayContaining(["schedule", "prepare", "connect"]))

      await build(client, started, "stop")
      await untilWorkspace(client, id, isStopped)
      expect((await left(namespace, deployment)).filter((name) => !name.startsWith("persistentvolumeclaims "))).toStrictEqual([])
      await build(client, started, "start")
      await untilWorkspace(client, id, isRunning)
      const again = await client.sandboxes.get(id, bounded())
      expect((await again.exec("cat note")).stdout).toBe("kept\n")

      // A Pod that is deleted by hand comes back with its volume, and the agent's log says so
      const lost = await podOf(again)
      await run(namespace.resources.remove("pods", namespace.name, lost?.metadata.name ?? ""))
      const { id: workspaceagent } = agentOf(await workspaces.getWorkspace(client, { workspace: id }))
      for await (const rows of agents.followAgentLogs(client, { workspaceagent }, { signal: AbortSignal.timeout(patience) }))
        if (rows.some(({ output }) => /is started again/.test(output))) break
      const note = () => again.exec("cat note").then(({ stdout }) => stdout, String)
      await expect.poll(note, { timeout: patience }).toBe("kept\n")
      expect((await podOf(again))?.metadata.uid).not.toBe(lost?.metadata.uid)

      // A prebuilt workspace is handed over as it runs
      const site = await templateFrom(client, "site", { files: { "template.yaml": pool("first") } })
      const [preset] = (await templateVersions.getTemplateVersionPresets(client, { templateversion: site.active_version_id })) ?? []
      const ready = await untilReady(client, site)
      const claimed = await workspaceFrom(client, site, "mine", { template_version_preset_id: preset?.id })
      expect(claimed.id).toBe(ready?.metadata.labels?.["atelier.dev/workspace-id"])
      const mine = await untilWorkspace(client, claimed.id, isRunning)
      expect((await podOf(mine))?.metadata.uid).toBe(ready?.metadata.uid)
      const own = await client.sandboxes.get(mine.id, bounded())
      expect((await own.exec("echo $SERVICE_WORKSPACE_OWNER_NAME; echo $SERVICE_WORKSPACE_NAME")).stdout).toBe("ada\nmine\n")
      const page = () => reach.fetchApp(client, { user: "ada", workspace: "mine", app: "site" })
      await expect.poll(async () => (await page()).text(), { timeout: patience }).toBe("first\n")

      // Another version of the template, without a pool
      const { hash: file_id } = await provisioning.uploadFile(client, {
        contentType: "application/x-tar",
        body: await aTar({ "template.yaml": pool("second").replace(/presets:[^]*/, "") })
      })
      const next = await templateVersions.createTemplateVersion(client, {
        organization: "default",
        body: { storage_method: "file", provisioner: "terraform", template_id: site.id, file_id }
      })
      const signal = AbortSignal.timeout(patience)
      for await (const _ of templateVersions.followTemplateVersionLogs(client, { templateversion: next.id }, { signal }));
      await templateVersions.promoteTemplateVersion(client, { template: site.id, body: { id: next.id } })
      await builds.createWorkspaceBuild(client, { workspace: mine.id, body: { transition: "start", template_version_id: next.id } })
      await untilWorkspace(client, mine.id, (one) => one.latest_build.template_version_id === next.id && isRunning(one))
      await expect.poll(async () => (await page()).text(), { timeout: patience }).toBe("second\n")
      await (await client.sandboxes.get(mine.id, bounded())).delete({ wait: true, ...bounded() })

      // Canceled while it waits for an image
      const stuck = await templateFrom(client, "stuck", {
        files: { "template.yaml": "agents: [{ name: main, container: { image: localhost/none:1, disk: 16Mi } }]\n" }
      })
      const waiting = await workspaceFrom(client, stuck, "waiting")
      await untilPod(waiting)
      await builds.cancelWorkspaceBuild(client, { workspacebuild: waiting.latest_build.id })
      await untilWorkspace(client, waiting.id, ({ latest_build }) => ["canceled", "failed"].includes(latest_build.status))
      expect((await left(namespace, deployment)).filter((name) => name.includes(waiting.id))).toStrictEqual([])

      await again.delete({ wait: true, ...bounded() })
      await build(client, waiting, "delete")
      await untilWorkspace(client, waiting.id, ({ latest_build }) => latest_build.status === "deleted")
      // What was prebuilt of the first version goes too
      await expect.poll(() => left(namespace, deployment), { timeout: patience }).toStrictEqual([])
    } catch (error) {
      throw new Error(`${String(error)}\n${await story(namespace, server, client)}`, { cause: error })
    } finally {
      await server.stop()
    }
  })

  /** The Pod of a prebuilt workspace whose agents are ready. */
  const untilReady = async (client: Client, { name }: Template) => {
    const prebuilt = async () => (await workspaces.listWorkspaces(client, { q: `owner:prebuilds template:${name}` })).workspaces
    const hasEnded = (one: Workspace) => isRunning(one) || one.latest_build.status === "failed"
    await expect.poll(async () => (await prebuilt()).some(hasEnded), { timeout: patience, interval: 250 }).toBe(true)
    const [ready] = (await prebuilt()).filter(isRunning)
    if (ready === undefined) throw new Error("the prebuilt workspace does not run")
    return podOf(ready)
  }

  const untilPod = ({ id }: Workspace) =>
    expect
      .poll(async () => (await pods()).some(({ metadata }) => metadata.labels?.["atelier.dev/workspace-id"] === id), { timeout: patience })
      .toBe(true)
})
