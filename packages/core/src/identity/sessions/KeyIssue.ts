import { Duration, Effect, Either } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { type AllowList, parseAllowList, unrestrictedAllowList } from "../../access/scopes/AllowList.js"
import { allScope, canonicalScope, isExternalScope } from "../../access/scopes/Scope.js"
import * as Audit from "../../audit/Audit.js"
import { apiKeyAudit } from "./ApiKeyAudit.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Conflict, Forbidden, Invalid, NotFound, Unauthenticated } from "../../platform/Errors.js"
import * as Name from "../../platform/texts/Name.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { type ApiKey, newApiKey, newCredential } from "./ApiKey.js"
import type { ApiKeyRepository, IssueOutcome } from "./ApiKeyRepository.js"
import { excess } from "./Delegation.js"
import { ownerRole, type User } from "../users/User.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { KeyHolders } from "./KeyHolders.js"
import type { TokenRequest } from "./ApiKeys.js"

/** Longer names would not fit into the index that keeps them unique. */
const maximumNameLength = 255

/** Keys of a user beyond which none is made, expired ones too: a list of tokens has no pages, and another password deletes all keys at once. */
const maximumKeys = 10_000

const scopesOf = ({ scope, scopes }: TokenRequest): Either.Either<ReadonlyArray<string>, Invalid> => {
  const wanted =
    scopes !== undefined && scopes.length > 0 ? { field: "scopes", names: scopes } : { field: "scope", names: [scope || allScope] }
  const unknown = wanted.names.find((name) => !isExternalScope(name))
  if (unknown === undefined) return Either.right([...new Set(wanted.names.map(canonicalScope))])
  const detail = `${JSON.stringify(unknown.slice(0, 64))} is not a scope that a token can be made with`
  return Either.left(new Invalid({ message: "Invalid scope.", detail, validations: [{ field: wanted.field, detail }] }))
}

const missingUser = new NotFound({ resource: "user" })

const endedCredential = new Unauthenticated({ message: "The session has just ended." })

const tooMany = new Invalid({ message: `A user can have at most ${maximumKeys} sessions and tokens.` })

/** What the store found out about the users, the credential and the limit. */
const judge = (outcome: IssueOutcome): Effect.Effect<void, NotFound | Unauthenticated | Invalid> => {
  switch (outcome) {
    case "issued":
      return Effect.void
    case "user_gone":
      return missingUser
    case "credential_ended":
      return endedCredential
    case "limit_reached":
      return tooMany
  }
}

interface Needs
  extends
    Pick<DeploymentOptions["Type"], "maxAdminTokenLifetime" | "maxTokenLifetime" | "defaultTokenLifetime" | "sessionDuration">,
    Pick<KeyHolders, "newHolder" | "holder"> {
  readonly repository: ApiKeyRepository["Type"]
}

/** New keys: for browsers, for apps, and tokens with scopes and a lifetime. */
export const keyIssue = ({
  maxAdminTokenLifetime,
  maxTokenLifetime,
  defaultTokenLifetime,
  repository,
  newHolder,
  sessionDuration,
  holder
}: Needs) => {
  /** The longest life of a user's tokens. identity.md §2.6. */
  const cap = (user: Pick<User, "rbac_roles">): Duration.Duration =>
    user.rbac_roles.includes(ownerRole) ? maxAdminTokenLifetime : maxTokenLifetime

  const lifetimeOf = (nanoseconds: bigint, user: User): Either.Either<Duration.Duration, Invalid> => {
    if (nanoseconds === 0n) return Either.right(defaultTokenLifetime)
    const lifetime = Duration.nanos(nanoseconds)
    return nanoseconds > 0n && Duration.lessThanOrEqualTo(lifetime, cap(user))
      ? Either.right(lifetime)
      : Either.left(
          new Invalid({
            message: "Invalid lifetime.",
            detail: `The lifetime must be longer than 0 and at most ${Duration.toHours(cap(user))} hours.`
          })
        )
  }

  /** Stores a new key and answers what its holder presents. */
  const issue = (
    user: User,
    key: Pick<ApiKey, "login_type" | "token_name" | "scopes" | "allow_list"> & { readonly lifetime: Duration.Duration }
  ) =>
    Effect.gen(function* () {
      const actor = yield* CurrentActor
      // The permission is checked before the scopes of the requested key are compared
      yield* Access.authorize("create", AccessObjects.ownedBy("api_key", user.id))
      const validations = excess(actor.subject, key.scopes, key.allow_list)
      if (validations.length > 0) {
        return yield* new Forbidden({ message: "A key cannot have more rights than the credential that creates it.", validations })
      }
      const { hashedSecret, id, key: presented } = yield* newCredential
      const now = yield* Timestamp.now
      const stored = newApiKey({ ...key, id, user_id: user.id, ip: actor.ip ?? "" }, now)
      const subject = { action: "create", resource: apiKeyAudit, id: user.id, target: stored.token_name } as const
      yield* Audit.auditedAtOnce(subject, stored, (entry) =>
        repository
          .issue({ key: stored, hashedSecret, entry, actor: actor.userId, credential: actor.apiKeyId, now, limit: maximumKeys })
          .pipe(
            Effect.mapError(() => Conflict.taken("A token", key.token_name)),
            Effect.flatMap(judge)
          )
      )
      return presented
    })

  return {
    create: Traced.fn("ApiKeys.create")(function* (reference: string) {
      const user = yield* newHolder(reference)
      return yield* issue(user, {
        login_type: "password",
        token_name: "",
        scopes: [allScope],
        allow_list: unrestrictedAllowList,
        lifetime: defaultTokenLifetime
      }).pipe(Effect.catchTag("Conflict", Effect.die))
    }),

    createForApps: Traced.fn("ApiKeys.createForApps")(function* () {
      const user = yield* newHolder("me")
      return yield* issue(user, {
        login_type: "password",
        token_name: "",
        scopes: [canonicalScope("application_connect")],
        allow_list: unrestrictedAllowList,
        lifetime: Duration.min(sessionDuration, Duration.days(1))
      }).pipe(Effect.catchTag("Conflict", Effect.die))
    }),

    createToken: Traced.fn("ApiKeys.createToken")(function* (reference: string, request: TokenRequest) {
      const user = yield* newHolder(reference)
      const scopes = yield* scopesOf(request)
      const name = request.token_name ?? ""
      if (name.length > maximumNameLength) return yield* Invalid.field("token_name", `must be at most ${maximumNameLength} characters`)
      const allow_list: AllowList = yield* parseAllowList(request.allow_list ?? [])
      const lifetime = yield* lifetimeOf(request.lifetime ?? 0n, user)
      const token = (token_name: string) => issue(user, { login_type: "token", token_name, scopes, allow_list, lifetime })
      if (name !== "") return yield* token(name)
      return yield* Effect.retry(Effect.flatMap(Name.random("_"), token), { times: 4, while: ({ _tag }) => _tag === "Conflict" })
    }),

    maximumLifetime: Traced.fn("ApiKeys.maximumLifetime")(function* (reference: string) {
      return cap(yield* holder(reference))
    })
  }
}
