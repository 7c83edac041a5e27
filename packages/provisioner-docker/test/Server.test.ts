/** A server whose workspaces are containers of a real daemon, as its users have it. */
import {
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
import { tokenFile } from "@atelier/provisioner/container"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { freePort, Server } from "../../atelier/test/Server.js"
import { build, firstClient, isRunning, templateFrom, untilWorkspace, workspaceFrom } from "../../atelier/test/Steps.js"
import { aTar } from "../../../test/records/archives.js"
import { lastingDatabaseUrl } from "../../../test/store/databases.js"
import { daemon, docker, giveImage, left, leftWithPorts, removeAll, skipped } from "./daemon.js"

const image = "atelier-test-life"

/** A page whose text is that of its version, and a pool of one. */
const pool = (version: string) => `
engine: docker
agents:
  - name: main
    container:
      image: ${image}:${version}
      user: dev
    apps:
      - { slug: site, display_name: Site, url: "http://127.0.0.1:\${workspace.port}" }
    scripts:
      - display_name: site
        run_on_start: true
        script: "mkdir -p /tmp/site; echo ${version} > /tmp/site/index.html; httpd -p 127.0.0.1:\${workspace.port} -h /tmp/site"
presets:
  - { name: ready, prebuilds: { instances: 1 } }
`

const isStopped = ({ latest_build }: Workspace) => latest_build.status === "stopped"
const isEnded = ({ latest_build }: Workspace) => ["canceled", "failed"].includes(latest_build.status)

/** The resource of a workspace that runs: what its page shows. */
const shown = ({ latest_build }: Workspace): Readonly<Record<string, string>> =>
  Object.fromEntries(latest_build.resources.flatMap(({ metadata = [] }) => metadata.map(({ key, value }) => [key, value])))

const containerOf = ({ id }: Workspace, agent = "main"): string => `atelier-${id}-${agent}`

const inspect = (container: string, field: string) => docker("inspect", "--format", `{{${field}}}`, container)

/** Each attempt has a deployment of its own, so that it meets nothing of the one before. */
let attempts = 0

describe.skipIf(daemon === undefined)(`a server with Docker${skipped}`, { timeout: 300_000 }, () => {
  beforeAll(() => {
    giveImage("static", `${image}:first`)
    giveImage("static", `${image}:second`)
    giveImage("image", "node:22")
  }, 240_000)

  /** The prebuilt workspace whose agents are ready. */
  const untilReady = async (client: Client, { name }: Template): Promise<Workspace> => {
    const prebuilt = async () => (await workspaces.listWorkspaces(client, { q: `owner:prebuilds template:${name}` })).workspaces
    await expect
      .poll(async () => (await prebuilt()).map(({ latest_build }) => latest_build.status), { timeout: 60_000, interval: 250 })
      .toContain("running")
    const [first] = await prebuilt()
    if (first === undefined) throw new Error("the prebuilt workspace is gone")
    return untilWorkspace(client, first.id, isRunning, 60_000)
  }

  /** Makes another version of a template, and promotes it. */
  const nextVersion = async (client: Client, template: Template, source: string) => {
    const { hash: file_id } = await provisioning.uploadFile(client, {
      contentType: "application/x-tar",
      body: await aTar({ "template.yaml": source })
    })
    const next = await templateVersions.createTemplateVersion(client, {
      organization: "default",
      body: { storage_method: "file", provisioner: "terraform", template_id: template.id, file_id }
    })
    for await (const _ of templateVersions.followTemplateVersionLogs(client, { templateversion: next.id }));
    await templateVersions.promoteTemplateVersion(client, { template: template.id, body: { id: next.id } })
    return next
  }

  /** Cancels the first build of a workspace once its log has a line, and waits for its end. */
  const cancelAt = async (client: Client, { id, latest_build }: Workspace, line: string) => {
    const { id: workspacebuild } = latest_build
    const said: Array<string> = []
    for await (const { output } of builds.followWorkspaceBuildLogs(client, { workspacebuild })) {
      said.push(output)
      if (output.includes(line)) break
    }
    expect(said.at(-1)).toContain(line)
    await builds.cancelWorkspaceBuild(client, { workspacebuild })
    return untilWorkspace(client, id, isEnded, 60_000)
  }

  /** The life of a workspace of the starter: its commands, terminal, app, stop, start, rename and delete. */
  const livesOfStarter = async (client: Client, deployment: string) => {
    const log: Array<string> = []
    const sandbox = await client.sandboxes.create({
      template: "docker-node",
      parameters: { memory: "1" },
      onProgress: ({ output }) => log.push(output)
    })
    const { id } = sandbox
    expect(log.join("\n")).toContain("The container of the agent main has been started.")
    expect(await sandbox.exec("id -u; pwd; echo kept > ~/note")).toMatchObject({ exitCode: 0, stdout: "1001\n/home/node/app\n" })
    expect(await sandbox.exec("env")).toMatchObject({ stdout: expect.not.stringMatching(/AGENT_TOKEN/) })
    const terminal = await sandbox.terminal()
    const writer = terminal.input.getWriter()
    await writer.write("tty && stty size; exit\n")
    let screen = ""
    for await (const bytes of terminal.output) screen += new TextDecoder().decode(bytes)
    expect(screen).toMatch(/\/dev\/pts\/\d+\s+24 80/)

    const started = await workspaces.getWorkspace(client, { workspace: id })
    const { template_active_version_id: templateversion } = started
    expect(await templateVersions.getTemplateVersion(client, { templateversion })).toMatchObject({ engine: "docker" })
    expect(shown(started)).toMatchObject({
      container: containerOf(started),
      image: "node:22",
      digest: expect.stringMatching(/^sha256:/),
      cpus: "2",
      memory: "1024 MiB"
    })
    const { provisioner_timings } = await workspaceSettings.getWorkspaceTimings(client, { workspace: id })
    expect(provisioner_timings.map(({ action }) => action)).toEqual(expect.arrayContaining(["pull", "fill", "create", "start", "connect"]))
    const page = async () => (await reach.fetchApp(client, { user: "ada", workspace: started.name, app: "app" })).text()
    await expect.poll(page, { timeout: 20_000 }).toMatch(/^Hello from Node v/)

    await build(client, started, "stop")
    await untilWorkspace(client, id, isStopped)
    expect(await leftWithPorts(deployment, id)).toStrictEqual([`${containerOf(started)}--home`])
    await workspaces.updateWorkspace(client, { workspace: id, body: { name: "renamed" } })
    await build(client, started, "start")
    const renamed = await untilWorkspace(client, id, isRunning)
    expect(renamed.name).toBe("renamed")
    const again = await client.sandboxes.get(id)
    expect((await again.exec("cat ~/note; echo $SERVICE_WORKSPACE_NAME")).stdout).toBe("kept\nrenamed\n")
    await again.delete({ wait: true })
    expect(await left(deployment, id)).toStrictEqual([])
  }

  /** A prebuilt workspace is handed over as it runs, and moves to another version with another image. */
  const claimsAndUpdates = async (client: Client) => {
    const site = await templateFrom(client, "site", { files: { "template.yaml": pool("first") } })
    const [preset] = (await templateVersions.getTemplateVersionPresets(client, { templateversion: site.active_version_id })) ?? []
    const ready = await untilReady(client, site)
    const container = await inspect(containerOf(ready), ".Id")
    const token = () => docker("exec", container, "cat", tokenFile)
    const pooled = await token()
    const claimed = await workspaceFrom(client, site, "mine", { template_version_preset_id: preset?.id })
    expect(claimed.id).toBe(ready.id)
    const mine = await untilWorkspace(client, claimed.id, isRunning)
    expect(await inspect(containerOf(mine), ".Id")).toBe(container)
    const own = await client.sandboxes.get(mine.id)
    expect((await own.exec("echo $SERVICE_WORKSPACE_OWNER_NAME; echo $SERVICE_WORKSPACE_NAME; echo kept > ~/note")).stdout).toBe(
      "ada\nmine\n"
    )
    // The container's own token follows behind the answer, for an agent that is started again
    await expect.poll(token, { timeout: 20_000 }).not.toBe(pooled)
    await docker("restart", "--time", "1", container)
    const restarted = await client.sandboxes.get(mine.id)
    expect((await restarted.exec("cat ~/note")).stdout).toBe("kept\n")
    const page = async () => (await reach.fetchApp(client, { user: "ada", workspace: "mine", app: "site" })).text()
    await expect.poll(page, { timeout: 20_000 }).toBe("first\n")
    // The pool is filled again: both have the network of the machine where it has no bridge
    const other = await untilReady(client, site)
    expect(other.id).not.toBe(mine.id)

    const next = await nextVersion(client, site, pool("second").replace(/presets:[^]*/, ""))
    await builds.createWorkspaceBuild(client, { workspace: mine.id, body: { transition: "start", template_version_id: next.id } })
    const updated = await untilWorkspace(client, mine.id, (one) => one.latest_build.template_version_id === next.id && isRunning(one))
    expect(shown(updated)).toMatchObject({ image: `${image}:second` })
    await expect.poll(page, { timeout: 20_000 }).toBe("second\n")
    const later = await client.sandboxes.get(mine.id)
    expect((await later.exec("cat ~/note")).stdout).toBe("kept\n")
    await later.delete({ wait: true })
  }

  /** Builds that are canceled while the daemon pulls an image, and while it runs a step of a Dockerfile. */
  const cancels = async (client: Client, deployment: string) => {
    const step = `sleep ${100_000 + attempts}.${process.pid}`
    // A registry that never answers
    const registry = createServer(() => undefined).listen(0, "127.0.0.1")
    await once(registry, "listening")
    const { port } = registry.address() as AddressInfo
    try {
      const slow = await templateFrom(client, "slow", {
        files: { "template.yaml": `agents: [{ name: main, container: { image: "localhost:${port}/none:1" } }]\n` }
      })
      const built = await templateFrom(client, "built", {
        files: {
          "template.yaml": "agents: [{ name: main, container: { build: { context: image } } }]\n",
          "image/Dockerfile": `FROM ${image}:first\nRUN ${step}\n`
        }
      })
      const stuck: Array<Workspace> = []
      for (const [template, line] of [
        [slow, "Pulling the image"],
        [built, step]
      ] as const)
        stuck.push(await cancelAt(client, await workspaceFrom(client, template, `${template.name}-one`), line))
      for (const { id, latest_build } of stuck) {
        expect(latest_build).toMatchObject({ status: "canceled", job: { status: "canceled" } })
        expect(await leftWithPorts(deployment, id)).toStrictEqual([])
      }
      // The daemon ends a build's step a moment after its caller has gone
      await expect.poll(() => docker("ps", "--all", "--no-trunc", "--format", "{{.Command}}"), { timeout: 30_000 }).not.toContain(step)
      for (const workspace of stuck) await build(client, workspace, "delete")
      for (const { id } of stuck) await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "deleted")
    } finally {
      registry.close()
    }
  }

  it.each(["SQLite", "PostgreSQL"] as const)("keeps what a user of %s does", async (kind) => {
    const deployment = `life-${process.pid}-${++attempts}`
    const directory = await mkdtemp(join(tmpdir(), "atelier-docker-life-"))
    const server = await Server.start({
      port: await freePort(),
      database: kind === "SQLite" ? `sqlite:${join(directory, "life.db")}` : await lastingDatabaseUrl(),
      workspacesDirectory: join(directory, "workspaces"),
      args: [
        "--engines=docker",
        `--docker-host=${daemon}`,
        `--docker-deployment=${deployment}`,
        "--workspace-prebuilds-reconciliation-interval=1s",
        "--allow-workspace-renames=true"
      ]
    })
    try {
      const client = await firstClient(server.url)
      await livesOfStarter(client, deployment)
      await claimsAndUpdates(client)
      await cancels(client, deployment)
      // What was prebuilt of the first version goes too
      await expect.poll(() => leftWithPorts(deployment), { timeout: 60_000 }).toStrictEqual([])
    } finally {
      await server.stop()
      await removeAll(deployment)
      await rm(directory, { recursive: true, force: true })
    }
  })
})
