/** Calls of users over the services, as a generator chooses them. */
import type { CurrentActor } from "@atelier/core/access"
import { Access, StreamRights } from "@atelier/core/access"
import { Accounts, Sessions } from "@atelier/core/identity"
import { Timestamp, type Uuid } from "@atelier/core/platform"
import { Templates, TemplateVersions } from "@atelier/core/templates"
import {
  Prebuilds,
  WorkspaceBuildCreation,
  WorkspaceBuilds,
  WorkspaceCreation,
  Workspaces,
  WorkspaceSchedules,
  WorkspaceSettings,
  WorkspaceSharing,
  type WorkspaceView
} from "@atelier/core/workspaces"
import { Effect, Exit, type Redacted, Stream } from "effect"
import type { Everything } from "./Replica.js"
import { asUser, emailOf, password, type Setting } from "./Setting.js"

export const callKinds = [
  "create",
  "create",
  "claim",
  "claim",
  "start",
  "stop",
  "stop",
  "delete",
  "cancel",
  "extend",
  "ttl",
  "autostart",
  "timeout",
  "share",
  "rename",
  "dormant",
  "suspend",
  "log in",
  "log in",
  "use session",
  "use session",
  "log out",
  "watch",
  "watch",
  "promote",
  "update template",
  "invalidate"
] as const
export type CallKind = (typeof callKinds)[number]

/** A call of a history: all that it needs follows from its numbers. */
export interface Call {
  readonly kind: CallKind
  readonly user: number
  readonly target: number
  readonly value: number
}

/** A session that a user was given. */
export interface Session {
  readonly token: Redacted.Redacted<string>
  /** Whether the user was told that it has ended. */
  hasEnded: boolean
}

/** A stream of a workspace that a user follows. */
export interface Watcher {
  readonly workspaceId: string
  /** The build that it has shown last. */
  buildId: string | undefined
  status: string | undefined
  isOpen: boolean
}

/** What calls of a history leave to each other. */
export interface Left {
  readonly sessions: Array<Session>
  /** Called with each stream that begins. */
  readonly watching: (watcher: Watcher) => void
}

/** A row that has to be there after the call was answered. */
export interface Acknowledged {
  readonly table: "workspaces" | "workspace_builds"
  readonly id: string
}

const at = <A>(items: ReadonlyArray<A>, index: number): A | undefined => items[index % Math.max(1, items.length)]

type Answer = Effect.Effect<ReadonlyArray<Acknowledged>, unknown, Everything>

const nothing: ReadonlyArray<Acknowledged> = []

const done = (effect: Effect.Effect<unknown, unknown, Everything>): Answer => Effect.as(effect, nothing)

/** Does something with a workspace of a user, if there is any. */
type Chosen = <A>(
  use: (id: Uuid.Uuid, buildId: Uuid.Uuid) => Effect.Effect<A, unknown, CurrentActor | Everything>
) => Effect.Effect<A | undefined, unknown, Everything>

const chosenOf =
  (actor: Uuid.Uuid, target: number): Chosen =>
  (use) =>
    asUser(
      actor,
      Effect.gen(function* () {
        const { workspaces } = yield* Effect.flatMap(Workspaces, ({ list }) => list("owner:me", { limit: 20, offset: 0 }))
        const workspace = at(workspaces, target)
        return workspace === undefined ? undefined : yield* use(workspace.id, workspace.latest_build.id)
      })
    )

const create = (setting: Setting, actor: Uuid.Uuid, name: string, template: number): Answer =>
  asUser(
    actor,
    Effect.gen(function* () {
      const { create } = yield* WorkspaceCreation
      const { id: template_id } = setting.templates[template] ?? { id: setting.admin }
      const { id, latest_build } = yield* create(
        { user: "me" },
        { name, template_id, autostart_schedule: "", ttl_ms: 0, automatic_updates: "", rich_parameter_values: [] }
      )
      return [
        { table: "workspaces", id },
        { table: "workspace_builds", id: latest_build.id }
      ] as const
    })
  )

const build = (chosen: Chosen, value: number, transition: "start" | "stop" | "delete"): Answer =>
  Effect.map(
    chosen((id) =>
      Effect.flatMap(WorkspaceBuildCreation, ({ create }) =>
        create(id, { transition, rich_parameter_values: [], orphan: transition === "delete" && value % 8 === 0 })
      )
    ),
    (made) => (made === undefined ? nothing : [{ table: "workspace_builds", id: made.id } as const])
  )

const watch = (chosen: Chosen, watching: Left["watching"]): Answer =>
  done(
    chosen((id) =>
      Effect.gen(function* () {
        const { values } = yield* StreamRights
        const watcher: Watcher = { workspaceId: id, buildId: undefined, status: undefined, isOpen: true }
        const show = (shown: Exit.Exit<WorkspaceView, unknown>) =>
          Effect.sync(() => {
            if (Exit.isFailure(shown)) return
            watcher.buildId = shown.value.latest_build.id
            watcher.status = shown.value.latest_build.status
          })
        const stream = yield* Effect.flatMap(Workspaces, ({ watch }) => watch(id))
        watching(watcher)
        yield* Effect.ensuring(
          Stream.runForEach(values(stream), show),
          Effect.sync(() => void (watcher.isOpen = false))
        )
      })
    )
  )

type SessionKind = "log in" | "use session" | "log out"

/** Calls of users about their sessions. */
const sessionCallOf = ({ kind, target, user }: Call & { readonly kind: SessionKind }, { sessions }: Left): Answer => {
  if (kind === "log in")
    return done(
      Effect.gen(function* () {
        const { logIn } = yield* Sessions
        sessions.push({ token: yield* logIn({ email: emailOf(user), password }, {}), hasEnded: false })
      })
    )
  const session = at(sessions, target)
  if (session === undefined) return Effect.succeed(nothing)
  return done(
    Effect.gen(function* () {
      const hadEnded = session.hasEnded
      const { authenticate, logOut } = yield* Sessions
      const actor = yield* authenticate(session.token, {})
      if (hadEnded) return yield* Effect.dieMessage("a session that a user has ended was taken")
      if (kind === "use session") return
      yield* Access.actingAs(actor)(logOut())
      session.hasEnded = true
    })
  )
}

type AdminKind = "suspend" | "promote" | "update template" | "invalidate"

/** Calls of the administrator. */
const adminCallOf = (setting: Setting, { kind, target, user, value }: Call & { readonly kind: AdminKind }): Answer => {
  switch (kind) {
    case "suspend":
      return done(
        asUser(
          setting.admin,
          Effect.flatMap(Accounts, ({ activate, suspend }) =>
            (value % 3 === 0 ? suspend : activate)(at(setting.users, user) ?? setting.admin)
          )
        )
      )
    case "promote":
      return done(
        asUser(
          setting.admin,
          Effect.gen(function* () {
            const template = at(setting.templates, target)
            const version = template && at(template.versions, value)
            if (template === undefined || version === undefined) return
            yield* Effect.flatMap(TemplateVersions, ({ promote }) => promote(template.id, version))
          })
        )
      )
    case "update template":
      return done(
        asUser(
          setting.admin,
          Effect.flatMap(Templates, ({ update }) =>
            update(at(setting.templates, target)?.id ?? setting.admin, { default_ttl_ms: value % 2 === 0 ? 0 : 120_000 })
          )
        )
      )
    case "invalidate":
      return done(
        asUser(
          setting.admin,
          Effect.flatMap(Prebuilds, ({ invalidate }) => invalidate(setting.templates[1]?.id ?? setting.admin))
        )
      )
  }
}

/** The call as an effect. It succeeds with what it was promised, and fails if the service refuses it. */
export const callOf = (setting: Setting, call: Call, name: string, left: Left): Answer => {
  const { kind, target, user, value } = call
  const actor = at(setting.users, user) ?? setting.admin
  const chosen = chosenOf(actor, target)
  switch (kind) {
    case "create":
      return create(setting, actor, name, 0)
    case "claim":
      return create(setting, actor, name, 1)
    case "start":
    case "stop":
    case "delete":
      return build(chosen, value, kind)
    case "cancel":
      return done(chosen((_, buildId) => Effect.flatMap(WorkspaceBuilds, ({ cancel }) => cancel(buildId, {}))))
    case "extend":
      return done(
        chosen((id) =>
          Effect.flatMap(Timestamp.now, (now) =>
            Effect.flatMap(WorkspaceSchedules, ({ extend }) => extend(id, Timestamp.plus(now, `${1 + (value % 48)} hours`)))
          )
        )
      )
    case "ttl":
      return done(chosen((id) => Effect.flatMap(WorkspaceSettings, ({ setTtl }) => setTtl(id, [0, 60_000, 3_600_000][value % 3] ?? 0))))
    case "autostart":
      return done(
        chosen((id) =>
          Effect.flatMap(WorkspaceSettings, ({ setAutostart }) => setAutostart(id, value % 2 === 0 ? "" : "CRON_TZ=UTC * 8 * * 1-5"))
        )
      )
    case "timeout":
      return done(chosen((id) => Effect.flatMap(WorkspaceSettings, ({ setTimeout }) => setTimeout(id, value % 2 === 0 ? null : 60_000))))
    case "share":
      return done(
        chosen((id) =>
          Effect.flatMap(WorkspaceSharing, ({ change }) =>
            change(id, { user_roles: { [at(setting.users, user + 1) ?? actor]: value % 2 === 0 ? "use" : "" }, group_roles: {} })
          )
        )
      )
    case "rename":
      return done(chosen((id) => Effect.flatMap(Workspaces, ({ rename }) => rename(id, name))))
    case "dormant":
      return done(chosen((id) => Effect.flatMap(WorkspaceSettings, ({ setDormant }) => setDormant(id, value % 2 === 0))))
    case "watch":
      return watch(chosen, left.watching)
    case "log in":
    case "use session":
    case "log out":
      return sessionCallOf({ ...call, kind }, left)
    case "suspend":
    case "promote":
    case "update template":
    case "invalidate":
      return adminCallOf(setting, { ...call, kind })
  }
}
