/** What users do with workspaces in containers: the same at a Docker daemon and in a cluster, through a server of its own process. */
import {
  builds,
  type Client,
  groups,
  organizationGroups,
  provisioning,
  quotas,
  reach,
  type Template,
  templateVersions,
  type Workspace,
  workspaces,
  workspaceSettings
} from "@atelier/client"
import { expect } from "vitest"
import { build, isRunning, templateFrom, untilWorkspace, workspaceFrom } from "../../../atelier/test/Steps.js"
import { patience, within } from "../../../atelier/test/within.js"
import { aTar } from "../../../../test/records/archives.js"

/** A starter template, and what a user sees of it. */
export interface Starter {
  readonly name: string
  /** The values of its parameters that are not the defaults. */
  readonly parameters?: Readonly<Record<string, string>>
  /** What `id -u; pwd` prints. */
  readonly place: string
  readonly app: string
  /** The text of the application's page. */
  readonly page: RegExp
  /** The same after a stop and a start, where it tells what the workspace has kept. */
  readonly laterPage?: RegExp
  /** The volumes that outlive a stop. */
  readonly volumes: ReadonlyArray<string>
  /** Of what the workspace's page tells of its container. */
  readonly shown: Readonly<Record<string, unknown>>
}

/** A template whose start does not end, and the line of its log at which a user gives it up. */
export interface Stuck {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly line: string
}

/** Where the workspaces of a server are containers. */
export interface Machine {
  readonly engine: "docker" | "kubernetes"
  /** Two images of busybox. */
  readonly images: readonly [first: string, second: string]
  /** A line of each start. */
  readonly startLine: string
  /** Parts of a start that are timed. */
  readonly actions: ReadonlyArray<string>
  readonly stuck: ReadonlyArray<Stuck>
  /** What a program finds in its own status, as docs/security.md says of the engine. */
  readonly walls: RegExp
  /** The id of what runs the agent: each start makes another. */
  readonly idOf: (workspace: Workspace) => Promise<string>
  /** What the workspace's page tells of where it runs. */
  readonly shownOf: (workspace: Workspace) => Promise<Readonly<Record<string, unknown>>>
  /** The volume of the agent as {@link left} names it. */
  readonly volumeOf: (workspace: Workspace, volume: string) => string
  /** The names of all that is left of the workspaces, or of one of them. */
  readonly left: (workspace?: string) => Promise<ReadonlyArray<string>>
  /** Prepares the end of a prebuilt workspace's agent, as a crash brings it. Returns what ends the agent once it would begin again as its owner's. */
  readonly crash: (workspace: Workspace) => Promise<(client: Client) => Promise<void>>
}

/** The bound of a wait. */
const bounded = () => ({ signal: AbortSignal.timeout(patience) })

const isStopped = ({ latest_build }: Workspace) => latest_build.status === "stopped"
const isEnded = ({ latest_build }: Workspace) => ["canceled", "failed"].includes(latest_build.status)

/** The resource of a workspace that runs: what its page shows. */
const shown = ({ latest_build }: Workspace): Readonly<Record<string, string>> =>
  Object.fromEntries(latest_build.resources.flatMap(({ metadata = [] }) => metadata.map(({ key, value }) => [key, value])))

const untilPage = (client: Client, workspace: string, app: string, text: RegExp) =>
  expect.poll(async () => (await reach.fetchApp(client, { user: "ada", workspace, app })).text(), { timeout: patience }).toMatch(text)

type Sandbox = Awaited<ReturnType<Client["sandboxes"]["create"]>>

/** Asks a terminal for its size, and ends its shell. */
const usesTerminal = async (sandbox: Sandbox) => {
  const terminal = await sandbox.terminal()
  await terminal.input.getWriter().write("tty && stty size; exit\n")
  let screen = ""
  const read = async () => {
    for await (const bytes of terminal.output) screen += new TextDecoder().decode(bytes)
  }
  await within("the terminal ends", read(), { more: () => screen })
  expect(screen).toMatch(/\/dev\/pts\/\d+\s+24 80/)
}

/** Imports a starter template, and uses a workspace of it: a command, a terminal, the application, a stop, a start, another name, and the end. */
export const livesOf = async (client: Client, machine: Machine, starter: Starter): Promise<void> => {
  const template = await templateFrom(client, starter.name, { example: starter.name })
  const version = await templateVersions.getTemplateVersion(client, { templateversion: template.active_version_id })
  expect(version.engine).toBe(machine.engine)
  const log: Array<string> = []
  const sandbox = await client.sandboxes.create(
    { template: template.name, parameters: { ...starter.parameters }, onProgress: ({ output }) => log.push(output) },
    bounded()
  )
  const { id } = sandbox
  expect(log.join("\n")).toContain(machine.startLine)
  expect(await sandbox.exec("id -u; pwd; echo kept > ~/note")).toMatchObject({ exitCode: 0, stdout: starter.place })
  expect(await sandbox.exec("env")).toMatchObject({ stdout: expect.not.stringMatching(/AGENT_TOKEN/) })
  const { stdout: walls } = await sandbox.exec("cat /proc/self/status; ls /var/run/secrets 2>&1")
  expect(walls).toMatch(machine.walls)
  expect(walls).toMatch(/No such file/)
  await usesTerminal(sandbox)

  const started = await workspaces.getWorkspace(client, { workspace: id })
  expect(shown(started)).toMatchObject({ ...(await machine.shownOf(started)), ...starter.shown, digest: expect.stringMatching(/^sha256:/) })
  const { provisioner_timings } = await workspaceSettings.getWorkspaceTimings(client, { workspace: id })
  expect(provisioner_timings.map(({ action }) => action)).toEqual(expect.arrayContaining([...machine.actions]))
  await untilPage(client, started.name, starter.app, starter.page)

  await build(client, started, "stop")
  await untilWorkspace(client, id, isStopped)
  expect((await machine.left(id)).toSorted()).toStrictEqual(starter.volumes.map((name) => machine.volumeOf(started, name)).toSorted())
  await workspaces.updateWorkspace(client, { workspace: id, body: { name: `renamed-${starter.name}` } })
  await build(client, started, "start")
  const renamed = await untilWorkspace(client, id, isRunning)
  const again = await client.sandboxes.get(id, bounded())
  expect((await again.exec("cat ~/note; echo $SERVICE_WORKSPACE_NAME")).stdout).toBe(`kept\nrenamed-${starter.name}\n`)
  await untilPage(client, renamed.name, starter.app, starter.laterPage ?? starter.page)
  await again.delete({ wait: true, ...bounded() })
  expect(await machine.left(id)).toStrictEqual([])
}

/** A page whose text is that of its version, and a pool of one. */
const pool = (image: string, text: string) => `
agents:
  - name: main
    container:
      image: ${image}
      memory: 128Mi
    apps:
      - { slug: site, display_name: Site, url: "http://127.0.0.1:\${workspace.port}" }
    scripts:
      - display_name: site
        run_on_start: true
        script: "mkdir -p /tmp/site; echo ${text} > /tmp/site/index.html; httpd -p 127.0.0.1:\${workspace.port} -h /tmp/site"
presets:
  - { name: ready, prebuilds: { instances: 1 } }
`

/** The prebuilt workspace whose agents are ready. */
const untilReady = async (client: Client, { name }: Template): Promise<Workspace> => {
  const prebuilt = async () => (await workspaces.listWorkspaces(client, { q: `owner:prebuilds template:${name}` })).workspaces
  const hasEnded = (one: Workspace) => isRunning(one) || one.latest_build.status === "failed"
  await expect.poll(async () => (await prebuilt()).some(hasEnded), { timeout: patience, interval: 250 }).toBe(true)
  const [ready] = (await prebuilt()).filter(isRunning)
  if (ready === undefined) throw new Error("the prebuilt workspace does not run")
  return ready
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
  for await (const _ of templateVersions.followTemplateVersionLogs(client, { templateversion: next.id }, bounded()));
  await templateVersions.promoteTemplateVersion(client, { template: template.id, body: { id: next.id } })
  return next
}

/** Claims a prebuilt workspace, which is handed over as it runs, and moves it to another version with another image. */
export const claimsAndUpdates = async (client: Client, machine: Machine): Promise<void> => {
  const [first, second] = machine.images
  const site = await templateFrom(client, "site", { files: { "template.yaml": pool(first, "first") } })
  const [preset] = (await templateVersions.getTemplateVersionPresets(client, { templateversion: site.active_version_id })) ?? []
  const ready = await untilReady(client, site)
  const pooled = await machine.idOf(ready)
  const crash = await machine.crash(ready)
  const claimed = await workspaceFrom(client, site, "mine", { template_version_preset_id: preset?.id })
  expect(claimed.id).toBe(ready.id)
  const mine = await untilWorkspace(client, claimed.id, isRunning)
  expect(await machine.idOf(mine)).toBe(pooled)
  const own = await client.sandboxes.get(mine.id, bounded())
  const facts = "echo $SERVICE_WORKSPACE_OWNER_NAME; echo $SERVICE_WORKSPACE_NAME; echo kept > ~/note"
  expect((await own.exec(facts)).stdout).toBe("ada\nmine\n")
  await untilPage(client, "mine", "site", /^first\n$/)
  await crash(client)
  const note = async () => (await (await client.sandboxes.get(mine.id, bounded())).exec("cat ~/note")).stdout
  await expect.poll(() => note().catch(String), { timeout: patience }).toBe("kept\n")
  await untilPage(client, "mine", "site", /^first\n$/)
  // The pool is filled again: both have the network of the machine where it has no bridge
  expect((await untilReady(client, site)).id).not.toBe(mine.id)

  const next = await nextVersion(client, site, pool(second, "second").replace(/presets:[^]*/, ""))
  await builds.createWorkspaceBuild(client, { workspace: mine.id, body: { transition: "start", template_version_id: next.id } })
  const updated = await untilWorkspace(client, mine.id, (one) => one.latest_build.template_version_id === next.id && isRunning(one))
  expect(shown(updated)).toMatchObject({ image: second })
  await untilPage(client, "mine", "site", /^second\n$/)
  expect(await note()).toBe("kept\n")
  await (await client.sandboxes.get(mine.id, bounded())).delete({ wait: true, ...bounded() })
}

/** Cancels the first build of a workspace once its log has a line, and waits for its end. */
const cancelAt = async (client: Client, { id, latest_build }: Workspace, line: string) => {
  const { id: workspacebuild } = latest_build
  const said: Array<string> = []
  for await (const { output } of builds.followWorkspaceBuildLogs(client, { workspacebuild }, bounded())) {
    said.push(output)
    if (output.includes(line)) break
  }
  expect(said.at(-1)).toContain(line)
  await builds.cancelWorkspaceBuild(client, { workspacebuild })
  return untilWorkspace(client, id, isEnded)
}

/** Cancels builds that are stuck: nothing is left of them. */
export const cancels = async (client: Client, machine: Machine): Promise<void> => {
  for (const { files, line, name } of machine.stuck) {
    const template = await templateFrom(client, name, { files })
    const { id, latest_build } = await cancelAt(client, await workspaceFrom(client, template, `${name}-one`), line)
    expect(latest_build).toMatchObject({ status: "canceled", job: { status: "canceled" } })
    expect(await machine.left(id)).toStrictEqual([])
    await builds.createWorkspaceBuild(client, { workspace: id, body: { transition: "delete" } })
    await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "deleted")
  }
}

/** The owner's daily cost in the default organization. */
const consumed = async (client: Client) => (await quotas.getMemberQuota(client, { organization: "default", user: "ada" })).credits_consumed

/** Starts a workspace that its owner cannot pay for: nothing is made of it. It starts once the owner can. */
export const keepsToQuotas = async (client: Client, machine: Machine): Promise<void> => {
  const source = `metadata: { daily_cost: 2 }\nagents: [{ name: main, container: { image: "${machine.images[0]}", memory: 128Mi } }]\n`
  const template = await templateFrom(client, "costly", { files: { "template.yaml": source } })
  const { id } = await workspaceFrom(client, template, "costly-one")
  const { latest_build } = await untilWorkspace(client, id, isEnded)
  expect(latest_build.job).toMatchObject({ status: "failed", error_code: "INSUFFICIENT_QUOTA" })
  expect(await machine.left(id)).toStrictEqual([])
  expect(await consumed(client)).toBe(0)

  const [everyone] = await organizationGroups.listOrganizationGroups(client, { organization: "default" })
  await groups.updateGroup(client, { group: everyone?.id ?? "", body: { quota_allowance: 2 } })
  await builds.createWorkspaceBuild(client, { workspace: id, body: { transition: "start" } })
  await untilWorkspace(client, id, isRunning)
  expect(await consumed(client)).toBe(2)
  await (await client.sandboxes.get(id, bounded())).delete({ wait: true, ...bounded() })
  expect(await consumed(client)).toBe(0)
}

/** All of it, with these starters. What was prebuilt goes in the end too. */
export const userLife = async (client: Client, machine: Machine, starters: ReadonlyArray<Starter>): Promise<void> => {
  for (const starter of starters) await livesOf(client, machine, starter)
  await claimsAndUpdates(client, machine)
  await cancels(client, machine)
  await keepsToQuotas(client, machine)
  await expect.poll(() => machine.left(), { timeout: patience }).toStrictEqual([])
}
