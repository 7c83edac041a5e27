/** The actor of a call: the subject that permissions are judged for, and its description in audit entries and logs. */
import { Context, Effect, type Either } from "effect"
import type { Forbidden, Unauthenticated } from "../../platform/Errors.js"
import { nil, Uuid } from "../../platform/texts/Uuid.js"
import { unrestrictedAllowList, normalizeAllowList } from "../scopes/AllowList.js"
import { allScope, noUserDataScope } from "../scopes/Scope.js"
import { buildSubject, type Membership, type Subject, type SubjectInput } from "./Subject.js"

/** The details of a call, beyond its actor. */
export interface CallInfo {
  readonly username?: string | undefined
  readonly ip?: string | undefined
  readonly userAgent?: string | undefined
  readonly requestId?: string | undefined
  /** The path that is called, below the access URL. A token for a part of the deployment is good for paths in this part only (RFC 8707). */
  readonly path?: string | undefined
  /** The thumbprint of the key that the caller has proven to have for this call (RFC 9449). */
  readonly dpopKey?: string | undefined
  /** The API key, session or token the call was made with. */
  readonly apiKeyId?: string | undefined
}

export interface Actor extends CallInfo {
  readonly subject: Subject
  /** The user on whose account it goes; the all-zero UUID for work of the system itself. */
  readonly userId: Uuid
  /** Set when an agent acts for its workspace's owner. */
  readonly agentId?: Uuid | undefined
  readonly workspaceId?: Uuid | undefined
  /** The credential is a token of an OAuth2 app: it gives no credentials and no rights, unless a scope names them. */
  readonly isApp?: boolean | undefined
  /** The credential of the actor; absent if nothing can end it. */
  readonly credential?: ActorCredential | undefined
}

/** A credential that may end while a stream opened with it goes on. */
export interface ActorCredential {
  /** Tells credentials of one agent apart; absent where the actor's key or agent does. No secret. */
  readonly name?: string
  /** Authenticates the credential again, without counting as a use of it. */
  readonly renew: Effect.Effect<Actor, Unauthenticated | Forbidden>
  /** When it expires unless it is used, in milliseconds since 1970; absent where that is not known. */
  readonly expiresAt?: number | undefined
  /** How credentials of its kind are authenticated again together; absent where each is by itself. */
  readonly together?: CommonRenewal | undefined
}

/** Authenticates the credentials of actors again, in one read, without counting as a use of them. Returns the actor that each has now, or why its credential has ended. */
export type CommonRenewal = (
  actors: ReadonlyArray<Actor>
) => Effect.Effect<(actor: Actor) => Either.Either<Actor, Unauthenticated | Forbidden>>

/** The actor of the running request or job. Whatever a service does, it does as this one. */
export class CurrentActor extends Context.Tag("@atelier/core/CurrentActor")<CurrentActor, Actor>() {}

const noActor =
  "No actor is provided, and each use case runs as somebody. Provide one: useCase.pipe(Access.actingAs(sessionActor({ userId, siteRoles, memberships }))), a SystemActor for background work, or testActor() in a test."

/** Runs what is made of the actor. One step of the fiber, where `CurrentActor` and what follows it are three: for what every request does. */
export const withActor = <A, E, R>(
  use: (actor: Actor, context: Context.Context<never>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | CurrentActor> =>
  Effect.withFiberRuntime(({ currentContext }) => use(Context.unsafeGet(currentContext, CurrentActor), currentContext))

// Types refuse a program without an actor. One that has no types, or casts them away, hears of it from the tag, whose own words would name no remedy
Object.assign(CurrentActor, {
  [Context.ReferenceTypeId]: Context.ReferenceTypeId,
  defaultValue: (): never => {
    throw new Error(noActor)
  }
})

/** A user with a credential. */
export const userActor = (input: SubjectInput & { readonly userId: Uuid }, info: CallInfo = {}): Actor => ({
  ...info,
  subject: buildSubject(input),
  userId: input.userId
})

/** A membership as an application knows it. What is left out gives nothing. */
export type MembershipInput = Pick<Membership, "organizationId"> & { readonly [Part in keyof Membership]?: Membership[Part] | undefined }

/** A user as an application that did its own login knows it. */
export interface SessionInput extends Omit<SubjectInput, "scopes" | "allowList" | "siteRoles" | "memberships"> {
  readonly userId: Uuid
  /** The roles in the deployment; `member` is implied. None unless given. */
  readonly siteRoles?: ReadonlyArray<string> | undefined
  readonly memberships?: ReadonlyArray<MembershipInput> | undefined
}

const membershipOf = (given: MembershipInput): Membership => {
  const { defaultMemberRoles = [], isServiceAccount = false, organizationId, roles = [], shareMode = "none" } = given
  // Without types, a membership of no organization would be one of the organization "undefined"
  if (typeof organizationId !== "string" || organizationId === "")
    throw new TypeError("memberships: each needs the organizationId of its organization")
  return { organizationId, roles, defaultMemberRoles, shareMode, isServiceAccount }
}

/** A user without a credential that narrows anything: a session, or an embedding application that did its own login. */
export const sessionActor = ({ memberships = [], siteRoles = [], ...input }: SessionInput, info: CallInfo = {}): Actor =>
  userActor({ ...input, siteRoles, memberships: memberships.map(membershipOf), scopes: [allScope], allowList: unrestrictedAllowList }, info)

/** The user of `testActor` unless another is given. */
export const testUserId = Uuid.make("00000000-0000-7000-8000-000000000001")

/**
 * An actor for tests: a user of the deployment, with the roles and memberships that the test gives. `testActor({ siteRoles: ["owner"] })` may do
 * everything, `testActor()` nothing beyond its own settings.
 */
export const testActor = ({ userId = testUserId, ...input }: Partial<SessionInput> = {}, info: CallInfo = {}): Actor =>
  sessionActor({ userId, ...input }, info)

/** A caller without a credential. It may use operations that need no permission. */
export const anonymousActor = (info: CallInfo = {}): Actor => ({
  ...info,
  subject: buildSubject({ userId: nil, siteRoles: [], memberships: [], scopes: [], allowList: [] }),
  userId: nil
})

/** Whether the actor is one that `anonymousActor` made. */
export const isAnonymous = ({ subject, userId }: Actor): boolean => userId === nil && subject.kind === "user"

export interface AgentInput {
  readonly agentId: Uuid
  /** The workspace's owner: the agent acts with this user's roles and groups. */
  readonly owner: Omit<SubjectInput, "scopes" | "allowList"> & { readonly userId: Uuid }
  readonly workspaceId: Uuid
  readonly templateId: Uuid
  readonly templateVersionId: Uuid
  readonly taskId?: Uuid | null | undefined
  /** The agent's `api_key_scope`. */
  readonly apiKeyScope: "all" | "no_user_data"
}

/** A workspace's agent: its owner, on nothing but what the workspace is made of. authorization.md §3. */
export const agentActor = (input: AgentInput, info: CallInfo = {}): Actor => ({
  ...info,
  subject: buildSubject(
    {
      ...input.owner,
      scopes: [input.apiKeyScope === "no_user_data" ? noUserDataScope : allScope],
      allowList: normalizeAllowList([
        { type: "workspace", id: input.workspaceId },
        { type: "template", id: input.templateId },
        { type: "template", id: input.templateVersionId },
        { type: "user", id: input.owner.userId },
        { type: "boundary_log", id: "*" },
        ...(input.taskId ? [{ type: "task" as const, id: input.taskId }] : [])
      ])
    },
    "agent"
  ),
  userId: input.owner.userId,
  agentId: input.agentId,
  workspaceId: input.workspaceId
})
