import { Context, Duration, Effect, Either, Option, type Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { type AllowList, type AllowListInput, parseAllowList, unrestrictedAllowList } from "../../access/scopes/AllowList.js"
import { allScope, canonicalScope, isExternalScope } from "../../access/scopes/Scope.js"
import * as Audit from "../../audit/Audit.js"
import { diff } from "../../audit/AuditedFields.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Conflict, Forbidden, Invalid, NotFound, Unauthenticated } from "../../platform/Errors.js"
import * as Name from "../../platform/texts/Name.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { type ApiKey, newApiKey, newCredential } from "./ApiKey.js"
import { ApiKeyRepository, type IssueOutcome, type TokenOfUser } from "./ApiKeyRepository.js"
import { excess } from "./Delegation.js"
import { ownerRole, type User } from "../users/User.js"
import { Users } from "../users/Users.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Ids } from "../../platform/Ids.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import type { Auditing } from "../../audit/Audit.js"

/** The request for a token. */
export interface TokenRequest {
  /** Absent or empty: a random name. */
  readonly token_name?: string | undefined
  /** Nanoseconds; absent or 0: the deployment's default. */
  readonly lifetime?: bigint | undefined
  readonly scopes?: ReadonlyArray<string> | undefined
  /** Counts when `scopes` is absent or empty. */
  readonly scope?: string | undefined
  readonly allow_list?: ReadonlyArray<AllowListInput> | undefined
}

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

/** The methods of {@link ApiKeys}. */
export interface ApiKeysService {
  /**
   * Creates a session key for a logged-in user. Returns the token, which is shown only once. Fails with `Invalid` for a user who has
   * 10,000 keys, and with `Unauthenticated` if the credential in use has ended. identity.md §4.
   */
  readonly create: (
    reference: string
  ) => Effect.Effect<Redacted.Redacted<string>, Invalid | Unauthenticated | Forbidden | NotFound, CurrentActor | Ids | Cryptography>

  /**
   * Creates a key of the actor that opens apps and does nothing else, for a browser at an app's host. It lives for a day after its last use at
   * most, and ends when the user logs out. Fails as `create` does. agents-and-apps.md §19.
   */
  readonly createForApps: () => Effect.Effect<
    Redacted.Redacted<string>,
    Invalid | Unauthenticated | Forbidden | NotFound,
    CurrentActor | Ids | Cryptography
  >

  /**
   * Creates a token. Returns its text, which is shown only once. Fails with `Invalid` for a scope, allow list or lifetime that is not
   * allowed and for a user who has 10,000 keys, `Conflict` for a taken name, `Forbidden` for rights that the
   * credential in use lacks, and `Unauthenticated` if that credential has ended. identity.md §4.
   */
  readonly createToken: (
    reference: string,
    request: TokenRequest
  ) => Effect.Effect<
    Redacted.Redacted<string>,
    Invalid | Unauthenticated | Forbidden | NotFound | Conflict,
    CurrentActor | Ids | Cryptography
  >

  /**
   * The user's tokens, or with `include_all` those of all users, as far as the actor may read them; oldest first. Fails with `NotFound`
   * for a credential that may read neither the user nor the user's keys. identity.md §4.
   */
  readonly tokens: (
    reference: string,
    options: { readonly include_expired: boolean; readonly include_all: boolean }
  ) => Effect.Effect<ReadonlyArray<TokenOfUser>, NotFound, CurrentActor>

  /** The longest life a token of the user may have. identity.md §4. */
  readonly maximumLifetime: (reference: string) => Effect.Effect<Duration.Duration, NotFound, CurrentActor>

  /** The user's key of that name. */
  readonly byName: (reference: string, name: string) => Effect.Effect<ApiKey, NotFound, CurrentActor>

  /** The key with that id, of any user: `reference` only has to name a user that the actor can read. identity.md §4. */
  readonly get: (reference: string, id: string) => Effect.Effect<ApiKey, NotFound, CurrentActor>

  /** Deletes a key of any origin. Requests with it are refused from now on. */
  readonly delete: (reference: string, id: string) => Effect.Effect<void, NotFound, CurrentActor | Auditing>

  /**
   * Expires a key now. Requests with it are told that it has expired, and its name stays taken. Does nothing to a key that has already
   * expired. identity.md §4.
   */
  readonly expire: (reference: string, id: string) => Effect.Effect<void, NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const repository = yield* ApiKeyRepository
  const accounts = yield* AccountRepository
  const { defaultTokenLifetime, maxAdminTokenLifetime, maxTokenLifetime, sessionDuration } = yield* DeploymentOptions

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
      const subject = { action: "create", type: "api_key", id: user.id, target: stored.token_name } as const
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

  /** The user whose keys are meant. The service's own accounts have none, and are as if they were nowhere. */
  const holder = Effect.fnUntraced(function* (reference: string) {
    const user = yield* users.holder(reference)
    if (user.is_system) return yield* new NotFound({ resource: "user" })
    return user
  })

  /** The user a key is made for. */
  const newHolder = Effect.fnUntraced(function* (reference: string) {
    const user = yield* holder(reference)
    if (user.deleted) return yield* new NotFound({ resource: "user" })
    return user
  })

  const readable = (key: Option.Option<ApiKey>) =>
    Access.visible(Option.getOrNull(key), AccessObjects.apiKey, new NotFound({ resource: "api_key" }))

  const missing = new NotFound({ resource: "api_key" })

  /** A key that the actor may do this to, and what an entry of the audit log about it is of. */
  const held = (action: "delete" | "update", reference: string, id: string) =>
    Effect.gen(function* () {
      yield* holder(reference)
      const key = yield* Effect.flatMap(repository.byId(id), (found) => (Option.isSome(found) ? Effect.succeed(found.value) : missing))
      const subject: Audit.Subject = {
        action: action === "update" ? "write" : action,
        type: "api_key",
        id: key.user_id,
        target: key.token_name
      }
      if (yield* Access.can(action, AccessObjects.apiKey(key))) return { key, subject }
      // Without the right to read the key it counts as missing, and no attempt is recorded
      if (yield* Access.can("read", AccessObjects.apiKey(key))) yield* Audit.recordFailure(subject, Option.some(missing))
      return yield* missing
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

    // Without a span, which captures a stack: 14 µs, also where spans are off
    createToken: Effect.fnUntraced(function* (reference: string, request: TokenRequest) {
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

    tokens: Traced.fn("ApiKeys.tokens")(function* (
      reference: string,
      options: { readonly include_expired: boolean; readonly include_all: boolean }
    ) {
      const user = yield* holder(reference)
      const tokens = yield* repository.tokens({
        userId: options.include_all ? undefined : user.id,
        unexpiredAt: options.include_expired ? undefined : yield* Timestamp.now,
        readable: yield* Access.predicate("read", "api_key"),
        usersReadable: yield* Access.predicate("read", "user")
      })
      const readsKeys = tokens.length > 0 || (yield* Access.can("read", AccessObjects.ownedBy("api_key", user.id)))
      if (!readsKeys) yield* Access.readable(AccessObjects.user(user))
      return tokens
    }),

    maximumLifetime: Traced.fn("ApiKeys.maximumLifetime")(function* (reference: string) {
      return cap(yield* holder(reference))
    }),

    byName: Traced.fn("ApiKeys.byName")(function* (reference: string, name: string) {
      const user = yield* holder(reference)
      return yield* readable(yield* repository.byName(user.id, name))
    }),

    get: Traced.fn("ApiKeys.get")(function* (reference: string, id: string) {
      yield* holder(reference)
      return yield* readable(yield* repository.byId(id))
    }),

    delete: Traced.fn("ApiKeys.delete")(function* (reference: string, id: string) {
      const { key, subject } = yield* held("delete", reference, id)
      yield* Audit.audited(
        subject,
        Effect.flatMap(repository.delete(id), (deleted) => (deleted ? Effect.succeed({ value: undefined, before: key }) : missing))
      )
    }),

    expire: Traced.fn("ApiKeys.expire")(function* (reference: string, id: string) {
      const { key, subject } = yield* held("update", reference, id)
      const { success } = yield* Audit.AuditStatus
      yield* transaction(
        Effect.gen(function* () {
          // Callers that race read the clock one after the other: none finds an end that is later than its own
          yield* accounts.lock([key.user_id])
          // A key is good at the instant it expires
          const expires_at = Timestamp.minus(yield* Timestamp.now, "1 milli")
          if (!(yield* repository.expire(id, expires_at))) return
          yield* Audit.record({ ...subject, status_code: success, diff: diff("api_key", key, { ...key, expires_at }) })
        })
      )
    })
  }
})

/** Keys and tokens of users: created, shown and deleted by their holders and by administrators. */
export class ApiKeys extends Context.Tag("@atelier/core/ApiKeys")<ApiKeys, ApiKeysService>() {
  static readonly layer = standingOn(service(ApiKeys, make), Users.layer)
}
