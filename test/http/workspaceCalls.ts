/** Workspaces over HTTP, for tests: making them, building them, waiting for builds. */
import { ProvisionerJobs } from "@atelier/core/provisioning"
import type { TemplateView } from "@atelier/core/templates"
import { Effect, Stream } from "effect"
import { Workspace, WorkspaceBuild } from "../../packages/http/src/contract/workspaces/workspaces.js"
import type { Answer, Person, TestServer } from "./server.js"

type Fields = Readonly<Record<string, unknown>>

let made = 0

/** A name no other workspace has. */
export const aName = (): string => `w${++made}`

/** Asks for a workspace of the person's own. */
export const requestWorkspace = (
  server: TestServer,
  template: Pick<TemplateView, "id">,
  { token }: Pick<Person, "token">,
  fields: Fields = {}
): Promise<Answer> => server.call("POST", "/users/me/workspaces", { token, body: { template_id: template.id, name: aName(), ...fields } })

/** A workspace whose first build has just been queued. */
export const aQueuedWorkspace = async (
  server: TestServer,
  template: Pick<TemplateView, "id">,
  person: Person,
  fields: Fields = {}
): Promise<typeof Workspace.Type> => (await requestWorkspace(server, template, person, fields)).as(Workspace)

/** A workspace whose first build has ended. */
export const aWorkspace = async (
  server: TestServer,
  template: Pick<TemplateView, "id">,
  person: Person,
  fields: Fields = {}
): Promise<typeof Workspace.Type> => {
  const { id, latest_build } = await aQueuedWorkspace(server, template, person, fields)
  await buildEnded(server, latest_build)
  return getWorkspace(server, id, person)
}

export const getWorkspace = async (server: TestServer, id: string, { token }: Pick<Person, "token">): Promise<typeof Workspace.Type> =>
  (await server.call("GET", `/workspaces/${id}?include_deleted=true`, { token })).as(Workspace)

/** Asks for a build. */
export const requestBuild = (
  server: TestServer,
  workspace: { readonly id: string },
  { token }: Pick<Person, "token">,
  fields: Fields
): Promise<Answer> => server.call("POST", `/workspaces/${workspace.id}/builds`, { token, body: fields })

/** A build that has ended. */
export const aBuild = async (
  server: TestServer,
  workspace: { readonly id: string },
  person: Person,
  fields: Fields
): Promise<typeof WorkspaceBuild.Type> => {
  const queued = (await requestBuild(server, workspace, person, fields)).as(WorkspaceBuild)
  await buildEnded(server, queued)
  return getBuild(server, queued.id, person)
}

export const getBuild = async (server: TestServer, id: string, { token }: Pick<Person, "token">): Promise<typeof WorkspaceBuild.Type> =>
  (await server.call("GET", `/workspacebuilds/${id}`, { token })).as(WorkspaceBuild)

/** Waits until the build's job has ended. */
export const buildEnded = (server: TestServer, build: Pick<typeof WorkspaceBuild.Type, "job">): Promise<void> =>
  server.run(Effect.flatMap(ProvisionerJobs, ({ follow }) => Stream.runDrain(follow(build.job.id, 0))))
