/** Calls of users over the services, as a generator chooses them. */
import type { CurrentActor } from "@atelier/core/access"
import { Accounts } from "@atelier/core/identity"
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
  WorkspaceSharing
} from "@atelier/core/workspaces"
import { Effect } from "effect"
import { type Acknowledged, at, type Left } from "./Left.js"
import type { Everything } from "./Replica.js"
import { following, sessionCallKinds, sessionCallOf } from "./SessionCalls.js"
import { asUser, type Setting } from "./Setting.js"
import { sendTo, taskOf } from "./TaskCalls.js"

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
  ...sessionCallKinds,
  "watch",
  "watch",
  "task",
  "send",
  "send",
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
      return done(chosen((id) => following(id, left, undefined)))
    case "task":
      return asUser(actor, taskOf(setting.taskVersion, name))
    case "send":
      return done(asUser(actor, sendTo(target, name, left)))
    case "log in":
    case "make token":
    case "use session":
    case "end session":
    case "follow":
      return done(sessionCallOf(kind, { actor, name, target, user }, left))
    case "suspend":
    case "promote":
    case "update template":
    case "invalidate":
      return adminCallOf(setting, { ...call, kind })
  }
}
