import { Context, type Effect, type Option, type Stream } from "effect"
import type { UserStatus } from "../identity/users/User.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { AppDefinition } from "./UsageReport.js"
import type { AgentUse, AppUse, TemplateUsage } from "./UsageRollup.js"

/** A time span; its end does not belong to it. */
export interface Span {
  readonly from: Timestamp
  readonly to: Timestamp
}

/** A visitor's session with an application. Reports of it arrive while it lasts. */
export interface AppSession extends Omit<AppUse, "template_id"> {
  readonly workspace_id: Uuid
  readonly agent_id: Uuid
  readonly session_id: Uuid
  readonly requests: number
}

/** The value of a parameter in a build, with its definition. */
export interface ParameterUse {
  readonly template_id: Uuid
  readonly name: string
  readonly type: string
  readonly display_name: string
  readonly description: string
  readonly options: ReadonlyArray<{
    readonly name: string
    readonly description: string
    readonly value: string
    readonly icon: string
  }>
  readonly value: string
  /** Workspaces with all of it. */
  readonly count: number
}

/** A change of a user's status; null when the user was deleted. */
export interface StatusChange {
  readonly user_id: Uuid
  readonly status: UserStatus | null
  readonly changed_at: Timestamp
}

/** The traffic of a time span, and the sessions in the newest reports of its agents. */
export interface Traffic {
  readonly rx_bytes: number
  readonly tx_bytes: number
  /** Milliseconds; only those that are known. */
  readonly latencies: ReadonlyArray<number>
  /** By the kind of program. */
  readonly sessions: Readonly<Record<string, number>>
}

export class InsightsRepository extends Context.Tag("@atelier/core/InsightsRepository")<
  InsightsRepository,
  {
    /** When the first report of an agent came. */
    readonly oldestReport: Effect.Effect<Option.Option<Timestamp>>
    /** The beginning of the last half hour with usage. */
    readonly newestUsage: Effect.Effect<Option.Option<Timestamp>>
    /** Reports of agents of a time span, in no order. */
    readonly agentUses: (span: Span) => Stream.Stream<AgentUse>
    /** Sessions that touch a time span. */
    readonly appUses: (span: Span) => Effect.Effect<ReadonlyArray<AppUse>>
    /** Stores rows in place of those of the same half hour, template and user. */
    readonly putUsage: (rows: ReadonlyArray<TemplateUsage>) => Effect.Effect<void>
    /** Those of some workspaces that are not deleted. */
    readonly existing: (workspaces: ReadonlyArray<Uuid>) => Effect.Effect<ReadonlyArray<Uuid>>
    /** Stores sessions. A session that is stored only grows. */
    readonly putSessions: (sessions: ReadonlyArray<AppSession>) => Effect.Effect<void>
    /** Usage of half hours that are whole in a time span, in their order; of all templates, or of some. */
    readonly usage: (span: Span, templateIds: ReadonlyArray<Uuid> | undefined) => Stream.Stream<TemplateUsage>
    /** The newest definition of each application that the usage of a time span names, by template. One that none of the last 1,000 starts of a version has may be missing. */
    readonly appDefinitions: (span: Span, templateIds: ReadonlyArray<Uuid> | undefined) => Effect.Effect<ReadonlyArray<AppDefinition>>
    /** Parameters of each workspace's last build of a time span. */
    readonly parameterUses: (span: Span, templateIds: ReadonlyArray<Uuid> | undefined) => Effect.Effect<ReadonlyArray<ParameterUse>>
    /** Names and pictures of users, deleted ones too. */
    readonly users: (
      ids: ReadonlyArray<Uuid>
    ) => Effect.Effect<ReadonlyArray<{ readonly id: Uuid; readonly username: string; readonly avatar_url: string }>>
    /** How many users each time span has, in their order. */
    readonly activeUsers: (spans: ReadonlyArray<Span>, templateId: Uuid | undefined) => Effect.Effect<ReadonlyArray<number>>
    /** Changes of users' statuses up to an instant, which belongs to them, in their order. Without the service's own users. */
    readonly statusChanges: (until: Timestamp) => Stream.Stream<StatusChange>
    readonly traffic: (since: Timestamp) => Effect.Effect<Traffic>
    /** Workspaces that are not deleted, by the status of their latest build. */
    readonly workspaces: Effect.Effect<Readonly<Record<string, number>>>
  }
>() {}
