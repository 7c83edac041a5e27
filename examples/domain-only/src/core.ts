/**
 * The whole core on a store in memory, without HTTP: for tests of rules, and for programs that only use the services. Background work runs when it is asked for,
 * so a test decides what has happened.
 */
import { ownProgram, PasswordHasher, TrustedUsers, UserCreation, Users } from "@atelier/core/identity"
import { BackgroundWork, Uuid } from "@atelier/core/platform"
import { Archives, Files } from "@atelier/core/provisioning"
import { type NewTemplate, TemplateCreation, TemplateVersionCreation } from "@atelier/core/templates"
import { type NewWorkspace, WorkspaceCreation } from "@atelier/core/workspaces"
import { Core } from "@atelier/node"
import { Sqlite } from "@atelier/storage-sqlite"
import { Effect, Layer, Redacted } from "effect"
import * as engine from "./engine.js"

/** Hashing a password takes long on purpose, and tests create many users. */
const passwordHasher = Layer.succeed(PasswordHasher, {
  hash: (password) => Effect.succeed(`not hashed: ${Redacted.value(password)}`),
  verify: (password, stored) => Effect.succeed(stored === `not hashed: ${Redacted.value(password)}`),
  isCurrent: () => true
})

export const layer = (options: Partial<Core.Options> = {}) =>
  Core.layer({
    storage: Sqlite.layer({ filename: ":memory:" }),
    provisioner: engine.layer,
    passwordHasher,
    backgroundWork: "manual",
    ...options
  })

const password = Redacted.make("correct horse battery staple")

/** Creates the first user. Returns the actor of that user, an owner. */
export const anOwner = (username: string) =>
  Effect.gen(function* () {
    const users = yield* Users
    yield* users.createFirst({ username, email: `${username}@example.com`, name: "", password }, ownProgram)
    return yield* actorOf(username)
  })

/** The actor that a stored user is, with the roles and groups that the user has now. */
export const actorOf = (username: string) => Effect.flatMap(TrustedUsers, ({ actorOf }) => actorOf(username, {}))

/** Creates a user without rights of its own in the default organization, and returns the actor that this user is. */
export const aMember = (username: string) =>
  Effect.gen(function* () {
    const { create } = yield* UserCreation
    yield* create({
      username,
      email: `${username}@example.com`,
      name: "",
      password,
      user_status: "active",
      service_account: false,
      organization_ids: [Uuid.nil],
      roles: []
    })
    return yield* actorOf(username)
  })

/** Has the waiting jobs run, which are imports of templates and builds of workspaces. */
export const runJobs = Effect.flatMap(BackgroundWork, ({ run }) => run("provisioner_jobs"))

/** Imports a template whose workspaces cost something a day. */
export const aTemplate = (name: string, cost = 0, settings: Partial<NewTemplate> = {}) =>
  Effect.gen(function* () {
    const source = yield* Effect.flatMap(Archives, ({ tarOf }) => tarOf({ [engine.templateFile]: String(cost) }))
    const file = yield* Effect.flatMap(Files, ({ upload }) => upload("application/x-tar", Effect.succeed(source)))
    const versions = yield* TemplateVersionCreation
    const version = yield* versions.create("default", {
      provisioner: "terraform",
      file_id: file.id,
      message: "",
      tags: {},
      user_variable_values: []
    })
    yield* runJobs
    const templates = yield* TemplateCreation
    return yield* templates.create("default", { name, template_version_id: version.id, ...settings })
  })

/** Creates a workspace of the actor and has its first start run. */
export const aWorkspace = (name: string, template_id: Uuid.Uuid, settings: Partial<NewWorkspace> = {}) =>
  Effect.gen(function* () {
    const { create } = yield* WorkspaceCreation
    const workspace = yield* create(
      { user: "me" },
      { name, template_id, autostart_schedule: "", ttl_ms: 0, automatic_updates: "", rich_parameter_values: [], ...settings }
    )
    yield* runJobs
    return workspace.id
  })
