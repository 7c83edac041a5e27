/** `templates`: from a folder of this machine to a template, and back. */
import type { Client, Template, TemplateVersion } from "@atelier/client"
import * as provisioning from "@atelier/client/provisioning"
import * as templateApi from "@atelier/client/templates"
import * as templateVersions from "@atelier/client/templateVersions"
import { mkdir, readdir, readFile, stat } from "node:fs/promises"
import { basename, join, resolve } from "node:path"
import { Readable } from "node:stream"
import { exitCodes, Failure, usage } from "../Failure.js"
import { packed, unpack } from "../files/tar.js"
import { asFlags } from "../requests/asFlags.js"
import type { Session } from "../Session.js"
import { ago, counted, durationText } from "../terminal/text.js"
import { findOrganization, findTemplate, findVersion } from "../workspaces/find.js"

export const listTemplates = async (_: object, session: Session): Promise<void> => {
  const found = await templateApi.listTemplates(await session.client(), {}, { signal: session.signal })
  session.out.list(
    found,
    [
      { title: "NAME", of: ({ name }) => name, isKey: true },
      { title: "ORGANIZATION", of: ({ organization_name }) => organization_name },
      { title: "USERS", of: ({ active_user_count }) => String(Math.max(0, active_user_count)) },
      { title: "UPDATED", of: ({ updated_at }) => ago(updated_at) },
      { title: "TITLE", of: ({ display_name }) => display_name },
      { title: "DESCRIPTION", of: ({ description }) => description }
    ],
    `There is no template. "${session.program} templates init" begins one.`
  )
}

export const listVersions = async ({ template: name }: { readonly template: string }, session: Session): Promise<void> => {
  const client = await session.client()
  const template = await findTemplate(client, name, session)
  const found = await templateVersions.listTemplateVersions(client, { template: template.id }, { signal: session.signal })
  session.out.list(found, [
    { title: "NAME", of: (version) => version.name, isKey: true },
    { title: "ACTIVE", of: ({ id }) => (id === template.active_version_id ? "*" : "") },
    { title: "STATUS", of: ({ job }) => job.status },
    { title: "BY", of: ({ created_by }) => created_by.username },
    { title: "CREATED", of: ({ created_at }) => ago(created_at) },
    { title: "MESSAGE", of: ({ message }) => message }
  ])
}

/** Files of more bytes than this belong into no template. */
const maximumSize = 10 * 1024 * 1024

const isEmptyFolder = async (folder: string): Promise<boolean> => (await readdir(folder).catch(() => [])).length === 0

/** Writes a starter template into a folder. */
export const init = async (
  { directory, from }: { readonly directory: string | undefined; readonly from: string | undefined },
  session: Session
): Promise<void> => {
  const { ask, out, program, signal } = session
  const client = await session.client()
  const examples = await templateApi.listTemplateExamples(client, { signal })
  const options = examples.map(({ id, name }) => ({ name: name === "" ? id : `${id} (${name})`, value: id }))
  if (from === undefined && !ask.canAsk)
    throw usage("--from: is missing. It names the starter template.", `the service has ${examples.map(({ id }) => id).join(", ")}.`)
  const id = from ?? (await ask.choose("Starter template", options))
  if (!examples.some((example) => example.id === id)) {
    throw new Failure({
      message: `There is no starter template "${id}".`,
      hint: `the service has ${examples.map((each) => each.id).join(", ")}.`,
      code: exitCodes.notFound
    })
  }
  const folder = resolve(directory ?? id)
  if (!(await isEmptyFolder(folder))) throw usage(`${folder}: has files already.`, "name an empty folder.")
  const body = { example_id: id, storage_method: "file", provisioner: "terraform" } as const
  const version = await templateVersions.createTemplateVersion(client, { organization: "default", body }, { signal })
  const count = await fetchInto(client, version, folder, session)
  out.say(`Wrote ${counted("file", count)} into ${folder}. "${program} templates push" in it makes a template of them.`)
}

const fetchInto = async (client: Client, { job }: TemplateVersion, folder: string, { signal }: Session): Promise<number> => {
  const bytes = await provisioning.downloadFile(client, { fileID: job.file_id }, { signal })
  await mkdir(folder, { recursive: true })
  return (await unpack(Readable.from([bytes]), folder, signal)).entries
}

interface PullInput {
  readonly template: string
  readonly directory: string | undefined
  readonly templateVersion: string | undefined
}

export const pull = async ({ directory, template: name, templateVersion }: PullInput, session: Session): Promise<void> => {
  const { out, signal } = session
  const client = await session.client()
  const template = await findTemplate(client, name, session)
  const version =
    templateVersion === undefined
      ? await templateVersions.getTemplateVersion(client, { templateversion: template.active_version_id }, { signal })
      : await findVersion(client, template, templateVersion, session)
  const folder = resolve(directory ?? template.name)
  if (!(await isEmptyFolder(folder))) throw usage(`${folder}: has files already.`, "name an empty folder.")
  const count = await fetchInto(client, version, folder, session)
  out.say(`Wrote ${counted("file", count)} of ${template.name}, version ${version.name}, into ${folder}.`)
}

/** Looks at a template's folder before it is sent: mistakes that the import would tell of after a while. */
export const checkFolder = async (folder: string): Promise<ReadonlyArray<string>> => {
  const files = await readdir(folder).catch(() => undefined)
  if (files === undefined) return [`${folder}: is not a folder.`]
  const yaml = files.find((name) => name === "template.yaml" || name === "template.yml")
  if (yaml === undefined) {
    return files.some((name) => /\.tf(?:\.json)?$/.test(name)) ? [] : [`${folder}: has neither a template.yaml nor files of Terraform.`]
  }
  const { checkText } = await import("./checkText.js")
  return checkText(await readFile(join(folder, yaml), "utf8"), yaml)
}

interface PushInput {
  readonly template: string | undefined
  readonly directory: string | undefined
  readonly message: string | undefined
  readonly name: string | undefined
  readonly organization: string | undefined
  readonly variable: ReadonlyArray<string>
  readonly tag: ReadonlyArray<string>
  readonly inactive: boolean
}

const pairsOf = (flag: string, given: ReadonlyArray<string>): ReadonlyArray<readonly [string, string]> =>
  given.map((each) => {
    const at = each.indexOf("=")
    if (at < 1) throw usage(`--${flag}: "${each}" must be NAME=VALUE.`)
    return [each.slice(0, at), each.slice(at + 1)]
  })

const bytesOf = async (folder: string): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of await packed(folder)) {
    size += (chunk as Uint8Array).length
    if (size > maximumSize)
      throw new Failure({ message: `${folder}: has more than 10 MiB.`, hint: "move what is no part of the template elsewhere." })
    chunks.push(chunk as Uint8Array)
  }
  return Buffer.concat(chunks)
}

const followImport = async (client: Client, version: TemplateVersion, { out, signal }: Session): Promise<TemplateVersion> => {
  for await (const { output, stage } of templateVersions.followTemplateVersionLogs(client, { templateversion: version.id }, { signal })) {
    out.log(output === "" ? `==> ${stage}` : `    ${output}`)
  }
  const ended = await templateVersions.getTemplateVersion(client, { templateversion: version.id }, { signal })
  if (ended.job.status === "succeeded") return ended
  throw new Failure({ message: `The import has failed: ${ended.job.error ?? ended.job.status}` })
}

interface Target {
  readonly name: string
  /** The template that has the name, if there is one. */
  readonly existing: Template | undefined
  /** Where a new one is made. */
  readonly organization: string
}

/** Refuses a name that no template can have, which the service says only after the import. */
const requireName = (name: string, isOfFolder: boolean, { program }: Session): void => {
  const isPossible = name.length <= 32 && /^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/.test(name) && name !== "new" && name !== "create"
  if (isPossible) return
  const rule = "has at most 32 letters, digits and single dashes between them"
  const message = `"${name}"${isOfFolder ? ", the folder's name," : ""} cannot be the name of a template.`
  throw usage(
    message,
    `a name ${rule}${isOfFolder ? `: give one with "${program} templates push NAME"` : ', and is not "new" or "create"'}.`
  )
}

/** The template that a folder is sent to. Names are those of an organization: that of another one is not the same template. */
const targetOf = async (client: Client, input: PushInput, folder: string, session: Session): Promise<Target> => {
  const [name = "", named] = (input.template ?? basename(folder)).split("/", 2).toReversed()
  const organization = named ?? (input.organization && (await findOrganization(client, input.organization, session)).name)
  const existing = await findTemplate(client, organization === undefined ? name : `${organization}/${name}`, session).catch(
    (error: unknown): undefined => {
      if (!(error instanceof Failure) || error.code !== exitCodes.notFound) throw error
    }
  )
  return { name, existing, organization: existing?.organization_id ?? organization ?? "default" }
}

/** Sends a folder as a new version of a template, which is made if the name is new. */
export const push = async (input: PushInput, session: Session): Promise<void> => {
  const { out, signal } = session
  const folder = resolve(input.directory ?? ".")
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() !== true) throw usage(`${folder}: is not a folder.`)
  const wrong = await checkFolder(folder)
  if (wrong.length > 0) throw new Failure({ message: "The template was not sent.", details: wrong, code: exitCodes.usage })
  const given = {
    tags: Object.fromEntries(pairsOf("tag", input.tag)),
    user_variable_values: pairsOf("variable", input.variable).map(([each, value]) => ({ name: each, value }))
  }
  const client = await session.liveClient()
  const { existing, name, organization } = await targetOf(client, input, folder, session)
  if (existing === undefined) requireName(name, input.template === undefined, session)
  const { hash } = await out.waiting(
    "Sending the template",
    provisioning.uploadFile(client, { contentType: "application/x-tar", body: await bytesOf(folder) }, { signal })
  )
  const body = {
    storage_method: "file",
    provisioner: "terraform",
    file_id: hash,
    template_id: existing?.id,
    name: input.name,
    message: input.message,
    ...given
  } as const
  const version = await followImport(
    client,
    await templateVersions.createTemplateVersion(client, { organization, body }, { signal }),
    session
  )
  if (existing === undefined) {
    const made = await templateApi.createTemplate(client, { organization, body: { name, template_version_id: version.id } }, { signal })
    if (out.format !== "table") out.one(made, [])
    return out.say(`Created the template ${name} with the version ${version.name}.`)
  }
  if (!input.inactive)
    await templateVersions.promoteTemplateVersion(client, { template: existing.id, body: { id: version.id } }, { signal })
  if (out.format !== "table") out.one(version, [])
  out.say(`The template ${name} has the version ${version.name}${input.inactive ? "" : ", which is active"}.`)
}

interface EditInput {
  readonly template: string
  readonly rename: string | undefined
  readonly title: string | undefined
  readonly description: string | undefined
  readonly icon: string | undefined
  readonly stopAfter: number | undefined
  readonly activate: string | undefined
}

const editFlags = {
  name: "--rename",
  display_name: "--title",
  description: "--description",
  icon: "--icon",
  default_ttl_ms: "--stop-after"
}

export const edit = async (input: EditInput, session: Session): Promise<void> => {
  const { out, signal } = session
  const client = await session.client()
  const found = await findTemplate(client, input.template, session)
  const { id } = found
  if (input.activate !== undefined) {
    const version = await findVersion(client, found, input.activate, session)
    await templateVersions.promoteTemplateVersion(client, { template: id, body: { id: version.id } }, { signal })
  }
  const body = {
    name: input.rename,
    display_name: input.title,
    description: input.description,
    icon: input.icon,
    default_ttl_ms: input.stopAfter
  }
  const isChanged = Object.values(body).some((value) => value !== undefined)
  const template = isChanged
    ? await asFlags(editFlags, templateApi.updateTemplate(client, { template: id, body }, { signal }))
    : await templateApi.getTemplate(client, { template: id }, { signal })
  out.one(template, [
    ["Name", template.name],
    ["Title", template.display_name],
    ["Description", template.description],
    ["Organization", template.organization_name],
    ["Stops", template.default_ttl_ms === 0 ? "by hand" : `${durationText(template.default_ttl_ms)} after a start`]
  ])
}

export const removeTemplate = async (
  { template: name, yes }: { readonly template: string; readonly yes: boolean },
  session: Session
): Promise<void> => {
  const client = await session.client()
  const { id } = await findTemplate(client, name, session)
  if (!yes && !session.ask.canAsk) throw usage(`The template ${name} would be deleted.`, "--yes deletes without a question.")
  if (!yes && !(await session.ask.confirm(`Delete the template ${name}?`))) throw new Failure({ message: "Nothing was deleted." })
  await templateApi.deleteTemplate(client, { template: id }, { signal: session.signal })
  session.out.say(`The template ${name} is deleted.`)
}
