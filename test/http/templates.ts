/** Templates over HTTP, for tests: uploading sources, importing versions, waiting for imports. */
import { JobView, ProvisionerJobs } from "@atelier/core/provisioning"
import { TemplateVersionView, TemplateView } from "@atelier/core/templates"
import { Uuid } from "@atelier/core/platform"
import { Effect, Schema, Stream } from "effect"
import { aTar } from "../records/archives.js"
import { templateFile, type TestTemplate } from "../outside/engine.js"
import type { Answer, TestServer } from "./server.js"

export interface Uploaded {
  readonly status: number
  readonly text: string
  readonly body: unknown
}

/** Uploads bytes. */
export const upload = async (
  server: TestServer,
  content: Uint8Array,
  { token = server.owner().token, type = "application/x-tar" } = {}
): Promise<Uploaded> => {
  const { body, status, text } = await server.call("POST", "/files", {
    token,
    headers: { "Content-Type": type },
    body: new Uint8Array(content)
  })
  return { status, text, body }
}

export const fileIdOf = ({ body }: Uploaded): Uuid.Uuid => Schema.decodeUnknownSync(Schema.Struct({ hash: Uuid.Uuid }))(body).hash

/** Uploads a template of the test engine and answers the file's id. */
export const aSource = async (server: TestServer, template: TestTemplate = {}): Promise<Uuid.Uuid> =>
  fileIdOf(await upload(server, await aTar({ [templateFile]: JSON.stringify(template) })))

type Fields = Readonly<Record<string, unknown>>

/** Asks for a version of a template of the test engine. */
export const requestVersion = async (
  server: TestServer,
  template: TestTemplate,
  fields: Fields = {},
  token = server.owner().token
): Promise<Answer> =>
  server.call("POST", "/organizations/default/templateversions", {
    token,
    body: { storage_method: "file", provisioner: "echo", file_id: await aSource(server, template), ...fields }
  })

/** A version whose import has just been queued. */
export const aVersion = async (server: TestServer, template: TestTemplate = {}, fields: Fields = {}): Promise<TemplateVersionView> =>
  (await requestVersion(server, template, fields)).as(TemplateVersionView)

/** The job when it has ended. */
export const ended = async (server: TestServer, { id }: Pick<JobView, "id">): Promise<void> =>
  server.run(Effect.flatMap(ProvisionerJobs, ({ follow }) => Stream.runDrain(follow(id, 0))))

export const getVersion = async (server: TestServer, id: string): Promise<TemplateVersionView> =>
  (await server.call("GET", `/templateversions/${id}`, { token: server.owner().token })).as(TemplateVersionView)

/** A version whose import has ended, however it did. */
export const anImportedVersion = async (
  server: TestServer,
  template: TestTemplate = {},
  fields: Fields = {}
): Promise<TemplateVersionView> => {
  const { id, job } = await aVersion(server, template, fields)
  await ended(server, job)
  return getVersion(server, id)
}

let made = 0

/** A template with an imported version. */
export const aTemplate = async (server: TestServer, template: TestTemplate = {}, fields: Fields = {}): Promise<TemplateView> => {
  const version = await anImportedVersion(server, template)
  const answer = await server.call("POST", "/organizations/default/templates", {
    token: server.owner().token,
    body: { name: `template-${++made}`, template_version_id: version.id, ...fields }
  })
  return answer.as(TemplateView)
}
