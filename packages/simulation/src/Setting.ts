/** What each history begins with: users, templates, and the pool of one of them. It is made once, by the services themselves. */
import { Access, type CurrentActor } from "@atelier/core/access"
import { DeploymentOptions, type Options } from "@atelier/core/deployment"
import { type GroupChange, GroupChanges } from "@atelier/core/groups"
import { newUser, PasswordHasher, TrustedUsers, UserRepository } from "@atelier/core/identity"
import { MemberRepository, Organizations } from "@atelier/core/organizations"
import { Ids, Timestamp, type Unauthenticated, type Uuid } from "@atelier/core/platform"
import { Archives, Files } from "@atelier/core/provisioning"
import { TaskConversations } from "@atelier/core/tasks"
import { TemplateCreation, TemplateVersionCreation, TemplateVersions } from "@atelier/core/templates"
import { Context, Effect, type Exit, Redacted } from "effect"
import { startAgents } from "./Agents.js"
import { leavingNone } from "./Roots.js"
import { type Everything, openDeployment, startReplica } from "./Replica.js"
import { taskOf } from "./TaskCalls.js"
import { type Machine, templateFile, type SimulatedTemplate } from "./SimulatedEngine.js"

/** When histories begin: a Monday. */
const begin = Date.UTC(2031, 0, 6, 8)

export interface Setting {
  readonly content: Uint8Array
  readonly begin: number
  readonly organization: Uuid.Uuid
  readonly admin: Uuid.Uuid
  readonly users: ReadonlyArray<Uuid.Uuid>
  /** Those of the prebuilt workspaces that are ready, and of a task of each user. */
  readonly machines: ReadonlyArray<Machine>
  /** The version that tasks are made from. */
  readonly taskVersion: Uuid.Uuid
  readonly templates: ReadonlyArray<{ readonly id: Uuid.Uuid; readonly versions: ReadonlyArray<Uuid.Uuid> }>
}

/** The options of all replicas. */
export const simulatedOptions: Options = { ...Context.get(Context.empty(), DeploymentOptions), provisionerDaemons: 2 }

/** Acts as a user, with the rights that the user has at that moment. */
export const asUser = <A, E, R>(
  user: Uuid.Uuid,
  effect: Effect.Effect<A, E, CurrentActor | R>
): Effect.Effect<A, E | Unauthenticated, Exclude<R, CurrentActor> | TrustedUsers> =>
  Effect.flatMap(TrustedUsers, ({ actorOf }) => Effect.flatMap(actorOf(user, {}), (actor) => Access.actingAs(actor)(effect)))

/** The password of each user. */
export const password = Redacted.make("correct horse battery")

/** The address of a user by its place among the users. */
export const emailOf = (index: number): string => `${userNames[index % userNames.length] ?? ""}@example.com`

const userNames = ["ada", "grace", "linus"]

const aUser = (name: string, roles: ReadonlyArray<string>, organization: Uuid.Uuid) =>
  Effect.gen(function* () {
    const id = yield* Effect.flatMap(Ids, ({ next }) => next)
    const now = yield* Timestamp.now
    const user = newUser({ id, username: name, email: `${name}@example.com`, name: "", status: "active", login_type: "password" }, now)
    const hash = yield* Effect.flatMap(PasswordHasher, ({ hash }) => hash(password))
    yield* Effect.flatMap(UserRepository, ({ insert }) => insert({ ...user, rbac_roles: roles }, hash))
    yield* Effect.flatMap(MemberRepository, ({ insert }) =>
      insert({ organization_id: organization, user_id: id, created_at: now, updated_at: now, roles: [] })
    )
    return id
  })

const aTemplate = (name: string, admin: Uuid.Uuid, what: SimulatedTemplate) =>
  Effect.gen(function* () {
    const tar = yield* Effect.flatMap(Archives, ({ tarOf }) => tarOf({ [templateFile]: JSON.stringify({ ...what, name }) }))
    const { id: file_id } = yield* Effect.flatMap(Files, ({ storeTar }) => storeTar(admin, tar))
    const imported = (template_id: Uuid.Uuid | undefined) =>
      Effect.gen(function* () {
        const creation = yield* TemplateVersionCreation
        const { id } = yield* creation.create("default", {
          provisioner: "echo",
          file_id,
          message: "",
          template_id,
          tags: {},
          user_variable_values: []
        })
        const versions = yield* TemplateVersions
        yield* Effect.repeat(Effect.delay(versions.get(id), "1 second"), { until: ({ job }) => job.status === "succeeded" })
        return id
      })
    const first = yield* imported(undefined)
    const { id } = yield* Effect.flatMap(TemplateCreation, ({ create }) => create("default", { name, template_version_id: first }))
    const second = yield* imported(id)
    return { id, versions: [first, second] }
  })

/** Prebuilt workspaces that wait for users. */
const poolSize = 2

/** The cost that each user may have a day: of some workspaces of the pool, and of those that the pool replaces. */
export const dailyAllowance = 4

const allowance: GroupChange = {
  name: "",
  display_name: null,
  avatar_url: null,
  quota_allowance: dailyAllowance,
  add_users: [],
  remove_users: []
}

const stored = Effect.gen(function* () {
  const { id: organization } = yield* Effect.flatMap(Organizations, ({ ensureDefault }) => ensureDefault)
  const admin = yield* aUser("admin", ["owner"], organization)
  const users = yield* Effect.forEach(userNames, (name) => aUser(name, [], organization))
  const templates = yield* asUser(
    admin,
    Effect.zipRight(
      Effect.flatMap(GroupChanges, ({ update }) => update(organization, allowance)),
      Effect.all([
        aTemplate("plain", admin, { prebuilds: 0, dailyCost: 0, fails: 0.05, isForTasks: false }),
        aTemplate("pooled", admin, { prebuilds: poolSize, dailyCost: 1, fails: 0.02, isForTasks: false })
      ])
    )
  )
  const { versions } = yield* asUser(admin, aTemplate("working", admin, { prebuilds: 0, dailyCost: 0, fails: 0, isForTasks: true }))
  const [taskVersion = admin] = versions
  // Only a task whose app is ready takes messages
  yield* Effect.forEach(users, (user) =>
    asUser(
      user,
      Effect.gen(function* () {
        yield* taskOf(taskVersion, "work")
        const { send } = yield* TaskConversations
        yield* Effect.retry(Effect.delay(send("me", "work", "begin"), "1 second"), { times: 120 })
      })
    )
  )
  return { organization, admin, users, templates, taskVersion }
})

/** Milliseconds in which the pool of prebuilt workspaces fills up. */
const settling = 120_000

/** Runs an effect on a replica of its own, without faults, until it has ended. */
const alone = <A, E>(effect: Effect.Effect<A, E, Everything>) =>
  Effect.gen(function* () {
    const deployment = yield* openDeployment({ seed: 0, begin, content: undefined, isShared: true })
    const { store, world } = deployment
    let exit: Exit.Exit<A, E> | undefined
    const started = (): void =>
      replica.run(effect, (ended) => {
        exit = ended
      })
    const replica = startReplica(deployment, "setting", 0, simulatedOptions, { started })
    startAgents(deployment, () => [replica])
    const hasEnded = world.run(() => exit !== undefined, begin + 3_600_000)
    world.run(() => false, world.now() + settling)
    replica.stop(() => {})
    world.run(() => false, world.now() + 10_000)
    if (!hasEnded || exit === undefined) return yield* Effect.dieMessage(`The setting was not made: ${world.trace.slice(-20).join("\n")}`)
    // Without it no history would have claims
    if (deployment.machines.size !== poolSize + userNames.length)
      return yield* Effect.dieMessage(`There are ${deployment.machines.size} machines.`)
    return [{ ...(yield* exit), machines: [...deployment.machines.values()] }, yield* store.content] as const
  }).pipe(Effect.scoped, leavingNone)

/** Makes the setting. */
export const makeSetting: Effect.Effect<Setting> = Effect.orDie(
  Effect.map(alone(stored), ([made, content]) => ({ ...made, content, begin: begin + 86_400_000 }))
)
