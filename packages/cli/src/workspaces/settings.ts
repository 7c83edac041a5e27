/** `schedule`, `favorite`, `share`, `autoupdate` and `open`. */
import type { Client, Workspace } from "@atelier/client"
import * as regions from "@atelier/client/regions"
import * as users from "@atelier/client/users"
import * as workspaceSettings from "@atelier/client/workspaceSettings"
import * as workspaceSharing from "@atelier/client/workspaceSharing"
import { openInBrowser } from "../access/browserLogin.js"
import { readDuration } from "../command/Command.js"
import { exitCodes, Failure, usage } from "../Failure.js"
import { asFlags } from "../requests/asFlags.js"
import type { Session } from "../Session.js"
import { ago, durationText } from "../terminal/text.js"
import { agentIn, findWorkspace, ofUser } from "./find.js"

interface Named {
  readonly workspace: string
}

const prepared = async (name: string, session: Session): Promise<{ readonly client: Client; readonly found: Workspace }> => {
  const client = await session.client()
  return { client, found: await findWorkspace(client, name, session) }
}

interface ScheduleInput extends Named {
  readonly start: string | undefined
  readonly stopAfter: string | undefined
  readonly extend: number | undefined
}

/** Milliseconds after a start; 0 for none. */
const durationOf = (text: string): number => {
  try {
    return text === "none" ? 0 : readDuration(text)
  } catch (error) {
    throw usage(`--stop-after: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

export const schedule = async ({ extend, start, stopAfter, workspace: name }: ScheduleInput, session: Session): Promise<void> => {
  const { out, signal } = session
  const { client, found } = await prepared(name, session)
  const workspace = found.id
  if (start !== undefined) {
    const body = { schedule: start === "none" ? "" : start }
    await asFlags({ schedule: "--start" }, workspaceSettings.setWorkspaceAutostart(client, { workspace, body }, { signal }))
  }
  if (stopAfter !== undefined) {
    const ttl_ms = durationOf(stopAfter)
    await asFlags({ ttl_ms: "--stop-after" }, workspaceSettings.setWorkspaceTtl(client, { workspace, body: { ttl_ms } }, { signal }))
  }
  if (extend !== undefined) {
    const deadline = new Date(Date.now() + extend).toISOString()
    await asFlags({ deadline: "--extend" }, workspaceSettings.extendWorkspace(client, { workspace, body: { deadline } }, { signal }))
  }
  const now = await findWorkspace(client, name, session)
  const { autostart_schedule, latest_build, ttl_ms } = now
  // The service leaves the stop of a workspace that runs as it is, unless there is to be none
  if (stopAfter !== undefined && stopAfter !== "none" && extend === undefined && latest_build.transition === "start") {
    out.say(`--stop-after counts from the next start on. ${now.name} runs now: --extend sets its next stop.`)
  }
  out.one(now, [
    ["Starts", autostart_schedule === undefined || autostart_schedule === "" ? "by hand" : autostart_schedule],
    ["Stops", ttl_ms === undefined || ttl_ms === 0 ? "by hand" : `${durationText(ttl_ms)} after a start`],
    ["Next stop", latest_build.deadline === null ? "none" : ago(latest_build.deadline)]
  ])
}

export const favorite = async ({ remove, workspace: name }: Named & { readonly remove: boolean }, session: Session): Promise<void> => {
  const { client, found } = await prepared(name, session)
  const change = remove ? workspaceSettings.removeFavoriteWorkspace : workspaceSettings.addFavoriteWorkspace
  await change(client, { workspace: found.id }, { signal: session.signal })
  session.out.say(`${found.name} is ${remove ? "no favorite any more" : "a favorite"}.`)
}

export const autoupdate = async ({ policy, workspace: name }: Named & { readonly policy: string }, session: Session): Promise<void> => {
  if (policy !== "always" && policy !== "never") throw usage(`"${policy}": must be always or never.`)
  const { client, found } = await prepared(name, session)
  await workspaceSettings.setWorkspaceAutoupdates(
    client,
    { workspace: found.id, body: { automatic_updates: policy } },
    { signal: session.signal }
  )
  session.out.say(`${found.name} is updated ${policy === "always" ? "with each start" : "by hand"}.`)
}

interface ShareInput extends Named {
  readonly user: ReadonlyArray<string>
  readonly role: "use" | "admin" | "none" | undefined
}

export const share = async ({ role = "use", user, workspace: name }: ShareInput, session: Session): Promise<void> => {
  const { out, signal } = session
  const { client, found } = await prepared(name, session)
  const ids = await Promise.all(user.map(async (each) => (await ofUser(each, users.getUser(client, { user: each }, { signal }))).id))
  if (ids.length > 0) {
    const user_roles = Object.fromEntries(ids.map((id) => [id, role === "none" ? "" : role]))
    await workspaceSharing.updateWorkspaceAcl(client, { workspace: found.id, body: { user_roles } }, { signal })
  }
  const acl = await workspaceSharing.getWorkspaceAcl(client, { workspace: found.id }, { signal })
  const rows = [
    ...acl.users.map(({ role: its, username }) => ({ kind: "user", name: username, role: its })),
    ...acl.group.map(({ name: group, role: its }) => ({ kind: "group", name: group, role: its }))
  ]
  out.list(
    rows,
    [
      { title: "NAME", of: (row) => row.name, isKey: true },
      { title: "KIND", of: ({ kind }) => kind },
      { title: "ROLE", of: (row) => row.role }
    ],
    `${found.name} is shared with no other user.`
  )
}

interface OpenInput extends Named {
  readonly app: string | undefined
  readonly in: Editor | "vim" | undefined
  readonly print: boolean
}

/** A folder of a workspace, and the host that `config-ssh` makes of it. */
interface EditorPlace {
  readonly host: string
  readonly user: string
  readonly folder: string
}

/** A path in the form of an address: a name may have the signs that end one. */
const pathOf = (folder: string): string => encodeURI(folder).replaceAll("#", "%23").replaceAll("?", "%3F")

const remoteSsh =
  (scheme: string) =>
  ({ folder, host }: EditorPlace): string =>
    `${scheme}://vscode-remote/ssh-remote+${encodeURIComponent(host)}${pathOf(folder)}`

/** The links that open a folder over OpenSSH, by the editor. */
const editorLinks = {
  code: remoteSsh("vscode"),
  cursor: remoteSsh("cursor"),
  windsurf: remoteSsh("windsurf"),
  zed: ({ folder, host }: EditorPlace): string => `zed://ssh/${encodeURIComponent(host)}${pathOf(folder)}`,
  // Gateway connects, and asks for the product; its parameters are a fragment
  jetbrains: ({ folder, host, user }: EditorPlace): string => {
    const parameters = { type: "ssh", host, port: "22", user, projectPath: folder, deploy: "false" }
    const fragment = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    return `jetbrains-gateway://connect#${fragment.join("&")}`
  }
}

export type Editor = keyof typeof editorLinks

/** The link that opens a folder of a workspace in an editor over OpenSSH. */
export const editorLink = (editor: Editor, { folder, ...place }: EditorPlace): string =>
  editorLinks[editor]({ ...place, folder: folder.startsWith("/") ? folder : `/${folder}` })

/** The address of a terminal or an app of a workspace. */
const appAddress = async (client: Client, workspace: Workspace, name: string, slug: string, session: Session): Promise<string> => {
  const agent = agentIn(workspace, name)
  const app = agent.apps.find((each) => each.slug === slug)
  if (app === undefined) {
    throw new Failure({
      message: `The workspace has no app "${slug}".`,
      hint: agent.apps.length === 0 ? "leave the app out for a terminal." : `it has ${agent.apps.map((each) => each.slug).join(", ")}.`,
      code: exitCodes.notFound
    })
  }
  if (app.external) {
    if (app.url === undefined || !/^https?:/.test(app.url)) throw new Failure({ message: `The app "${slug}" has no address for browsers.` })
    return app.url
  }
  const { host } = await regions.getAppHost(client, { signal: session.signal })
  if (app.subdomain && app.subdomain_name !== undefined && host !== "") {
    return `${new URL(client.baseUrl).protocol}//${host.replace("*", app.subdomain_name)}/`
  }
  return `${client.baseUrl}/@${workspace.owner_name}/${workspace.name}.${agent.name}/apps/${encodeURIComponent(slug)}/`
}

export const open = async ({ app, in: editor, print, workspace: name }: OpenInput, session: Session): Promise<number | void> => {
  const { client, found } = await prepared(name, session)
  const agent = agentIn(found, name)
  const host = `${agent.name}.${found.name}.${found.owner_name}.atelier`
  const folder = agent.expanded_directory ?? agent.directory ?? "/"
  if (editor === "vim") {
    const { shell } = await import("../connect/exec.js")
    return shell(
      { workspace: name, words: ["exec", "vim", "."], tty: true, noTty: false, noInput: false, cwd: undefined, env: [] },
      session
    )
  }
  const address =
    editor !== undefined
      ? editorLink(editor, { host, folder, user: found.owner_name })
      : app === undefined
        ? `${client.baseUrl}/@${found.owner_name}/${found.name}.${agent.name}/terminal`
        : await appAddress(client, found, name, app, session)
  session.out.row({ address }, address)
  if (!print) openInBrowser(address, session.env)
}
