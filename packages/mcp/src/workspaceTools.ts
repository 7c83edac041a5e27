/** Tools that make, find and end workspaces. */
import { AtelierError, builds, type Client, templates, type Workspace, workspaces } from "@atelier/client"
import * as z from "zod"
import { adding, readOnly, removing, repeatable, tool, workspaceInput } from "./Tool.js"
import { ToolError } from "./toolResult.js"
import { isUuid, sandboxOf, within, workspaceOf } from "./workspaceOf.js"

/** Milliseconds for the calls of one tool that waits for no build. */
const callTime = 30_000

/** Milliseconds that a tool waits for a build. Clients give up after a minute by default. */
const buildTime = 45_000
const maximumBuildTime = 600_000
const waitInput = z.int().min(0).max(maximumBuildTime).default(buildTime).describe("Milliseconds to wait for the build.")

/** Lines of a build's log in one result. */
const maximumLines = 1000

const view = {
  id: z.string(),
  name: z.string(),
  owner: z.string(),
  template: z.string(),
  status: z.string().describe("Such as running, stopped, starting or failed."),
  error: z.string().nullable().describe("Why the last build has failed."),
  expires_at: z.string().nullable().describe("When the workspace is deleted.")
}

const viewOf = ({ expires_at, id, latest_build, name, owner_name, template_name }: Workspace) => ({
  id,
  name,
  owner: owner_name,
  template: template_name,
  status: latest_build.status,
  error: latest_build.job.error === undefined || latest_build.job.error === "" ? null : latest_build.job.error,
  expires_at: expires_at ?? null
})

const isUnfinished = (status: string): boolean => status === "pending" || status === "running" || status === "canceling"

/** The workspace after its last build, or as it is when the time is over. */
const settled = async (client: Client, workspace: string, time: number, signal: AbortSignal): Promise<Workspace> => {
  const until = within(signal, time)
  try {
    for await (const seen of workspaces.watchWorkspace(client, { workspace }, { signal: until })) {
      if (!isUnfinished(seen.latest_build.job.status)) return seen
    }
  } catch (error) {
    if (signal.aborted || !until.aborted) throw error
  }
  return workspaces.getWorkspace(client, { workspace }, { signal: within(signal, callTime) })
}

const isGone = (error: unknown): boolean => error instanceof AtelierError && (error.status === 404 || error.status === 410)

const templateIdOf = async (client: Client, named: string, signal: AbortSignal): Promise<string> => {
  if (isUuid(named)) return named
  const [found] = await templates.listTemplates(client, { q: `exact_name:${JSON.stringify(named)}` }, { signal })
  if (found === undefined) throw new ToolError(`There is no template named "${named}".`)
  return found.id
}

/** A tool that starts or stops. */
const building = (name: "start_workspace" | "stop_workspace", transition: "start" | "stop", title: string, description: string) =>
  tool({
    name,
    title,
    description,
    ...repeatable,
    destructive: transition === "stop",
    input: { workspace: workspaceInput, wait_ms: waitInput },
    output: view,
    run: async (client, { wait_ms, workspace }, signal) => {
      const { id, latest_build } = await workspaceOf(client, workspace, within(signal, callTime))
      const isThere =
        latest_build.transition === transition && (isUnfinished(latest_build.job.status) || latest_build.job.status === "succeeded")
      if (!isThere) await builds.createWorkspaceBuild(client, { workspace: id, body: { transition } }, { signal: within(signal, callTime) })
      return viewOf(await settled(client, id, wait_ms, signal))
    }
  })

export const workspaceTools = [
  tool({
    name: "list_templates",
    title: "List templates",
    description: "Lists the templates that workspaces can be made from.",
    ...readOnly,
    input: { limit: z.int().min(1).max(200).default(100) },
    output: {
      templates: z.array(
        z.object({ id: z.string(), name: z.string(), display_name: z.string(), description: z.string(), organization: z.string() })
      ),
      truncated: z.boolean()
    },
    run: async (client, { limit }, signal) => {
      const all = await templates.listTemplates(client, {}, { signal: within(signal, callTime) })
      return {
        templates: all.slice(0, limit).map(({ description, display_name, id, name, organization_name }) => ({
          id,
          name,
          display_name,
          description,
          organization: organization_name
        })),
        truncated: all.length > limit
      }
    }
  }),
  tool({
    name: "list_workspaces",
    title: "List workspaces",
    description: "Lists workspaces, by default the user's own.",
    ...readOnly,
    input: {
      q: z.string().max(1000).default("owner:me").describe("A search, such as owner:me, template:shell or status:running."),
      limit: z.int().min(1).max(100).default(50),
      offset: z.int().min(0).max(1_000_000).default(0)
    },
    output: { workspaces: z.array(z.object(view)), count: z.int() },
    run: async (client, input, signal) => {
      const { count, workspaces: found } = await workspaces.listWorkspaces(client, input, { signal: within(signal, callTime) })
      return { workspaces: found.map(viewOf), count }
    }
  }),
  tool({
    name: "create_workspace",
    title: "Create a workspace",
    description:
      "Creates a workspace of the user from a template, and waits for its build. Set timeout_ms for a workspace that is not to stay.",
    ...adding,
    input: {
      template: z.string().min(1).max(200).describe("The template's name or id."),
      name: z.string().min(1).max(32).describe("Lowercase letters, digits and hyphens."),
      timeout_ms: z.int().min(1000).optional().describe("Milliseconds after which the workspace is deleted."),
      parameters: z
        .record(z.string().min(1).max(256), z.string().max(65_536))
        .refine((values) => Object.keys(values).length <= 100, "at most 100 parameters")
        .optional()
        .describe("The values of the template's parameters, by name."),
      wait_ms: waitInput
    },
    output: view,
    run: async (client, { name, parameters = {}, template, timeout_ms, wait_ms }, signal) => {
      const options = { signal: within(signal, callTime) }
      const body = {
        name,
        template_id: await templateIdOf(client, template, options.signal),
        timeout_ms,
        rich_parameter_values: Object.entries(parameters).map(([key, value]) => ({ name: key, value }))
      }
      const { id } = await workspaces.createWorkspace(client, { user: "me", body }, options)
      return viewOf(await settled(client, id, wait_ms, signal))
    }
  }),
  building("start_workspace", "start", "Start a workspace", "Starts a workspace that is stopped, and waits for its build."),
  building(
    "stop_workspace",
    "stop",
    "Stop a workspace",
    "Stops a workspace, and with it all that runs in it. What its template keeps is kept."
  ),
  tool({
    name: "delete_workspace",
    title: "Delete a workspace",
    description: "Deletes a workspace with all its files, for good.",
    ...removing,
    input: { workspace: workspaceInput },
    output: { deleted: z.boolean().describe("False while the deletion goes on.") },
    run: async (client, { workspace }, signal) => {
      const { id } = await workspaceOf(client, workspace, within(signal, callTime))
      await builds.createWorkspaceBuild(client, { workspace: id, body: { transition: "delete" } }, { signal: within(signal, callTime) })
      try {
        return { deleted: (await settled(client, id, buildTime, signal)).latest_build.status === "deleted" }
      } catch (error) {
        if (!isGone(error)) throw error
        return { deleted: true }
      }
    }
  }),
  tool({
    name: "build_log",
    title: "Read a build's log",
    description: "Returns the log of a workspace's last build: why a start has failed.",
    ...readOnly,
    input: { workspace: workspaceInput, after: z.int().min(0).default(0).describe("Returns the lines behind this id.") },
    output: {
      status: z.string(),
      error: z.string().nullable(),
      lines: z.array(z.object({ id: z.int(), stage: z.string(), level: z.string(), output: z.string() })),
      truncated: z.boolean()
    },
    run: async (client, { after, workspace }, signal) => {
      const found = await workspaceOf(client, workspace, within(signal, callTime))
      const input = { workspacebuild: found.latest_build.id, after }
      const lines = await builds.getWorkspaceBuildLogs(client, input, { signal: within(signal, callTime) })
      const { error, status } = viewOf(found)
      return {
        status,
        error,
        lines: lines.slice(0, maximumLines).map(({ id, log_level, output, stage }) => ({ id, stage, level: log_level, output })),
        truncated: lines.length > maximumLines
      }
    }
  }),
  tool({
    name: "preview_url",
    title: "Get a port's address",
    description: "Returns the address at which the user's browser reaches a port of a workspace.",
    ...readOnly,
    input: { workspace: workspaceInput, port: z.int().min(1000).max(65_535) },
    output: { url: z.string() },
    run: async (client, { port, workspace }, signal) => {
      const sandbox = await sandboxOf(client, workspace, signal)
      return { url: await sandbox.url(port, { signal: within(signal, callTime) }) }
    }
  })
]
