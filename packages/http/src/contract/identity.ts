/** Users, their sessions and their keys. identity.md §3–§8. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { AllowListEntry, externalScopes, formatAllowListEntry, parseAllowList, Permission } from "@atelier/core/access"
import { ApiKey as StoredKey, LoginType, UserStatus } from "@atelier/core/identity"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Either, ParseResult, Redacted, Schema } from "effect"
import { dialectal } from "../dialect.js"
import { refusals, Response } from "../errors.js"
import { Body, flag, lenientFlag, list, page, Path, Query, text } from "../input.js"
import { Limiter, TrailingSlash } from "./annotations.js"
import { Authenticated } from "./authentication.js"
import { Organization } from "./organizations.js"

/** A role as lists of it show it; one of an organization also names that. */
export const SlimRole = Schema.Struct({
  name: Schema.String,
  display_name: Schema.String,
  organization_id: Schema.optional(Schema.String)
}).annotations({ identifier: "SlimRole" })

/** Empty texts are left out. identity.md §8.1. */
export const User = Schema.Struct({
  id: Uuid.Uuid,
  username: Schema.String,
  avatar_url: Schema.optional(Schema.String),
  name: Schema.optional(Schema.String),
  email: Schema.String,
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp,
  last_seen_at: Timestamp.Timestamp,
  status: UserStatus,
  login_type: LoginType,
  theme_preference: Schema.optional(Schema.String),
  organization_ids: Schema.Array(Uuid.Uuid),
  roles: Schema.Array(SlimRole),
  has_ai_seat: Schema.Boolean,
  is_service_account: Schema.Boolean
}).annotations({ identifier: "User" })
export interface User extends Schema.Schema.Type<typeof User> {}

/** A role, what it allows, and whether whoever asks may give it. */
export const AssignableRole = Schema.Struct({
  ...SlimRole.fields,
  site_permissions: Schema.Array(Permission),
  user_permissions: Schema.Array(Permission),
  organization_permissions: Schema.Array(Permission),
  organization_member_permissions: Schema.Array(Permission),
  built_in: Schema.Boolean,
  assignable: Schema.Boolean
}).annotations({ identifier: "AssignableRoles" })
export interface AssignableRole extends Schema.Schema.Type<typeof AssignableRole> {}

/** The roles that a user was given, in the deployment and by organization. identity.md §8.6. */
const UserRoles = Schema.Struct({
  roles: Schema.Array(Schema.String),
  organization_roles: Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) })
}).annotations({ identifier: "UserRoles" })

/** The ways to log in. identity.md §6.7. */
const LoginMethods = Schema.Struct({
  terms_of_service_url: Schema.optional(Schema.String),
  password: Schema.Struct({ enabled: Schema.Boolean }).annotations({ identifier: "AuthMethod" }),
  github: Schema.Struct({ enabled: Schema.Boolean, default_provider_configured: Schema.Boolean }).annotations({
    identifier: "GithubAuthMethod"
  }),
  oidc: Schema.Struct({ enabled: Schema.Boolean, signInText: Schema.String, iconUrl: Schema.String }).annotations({
    identifier: "OIDCAuthMethod"
  })
}).annotations({ identifier: "AuthMethods" })

/** Objects; texts `type:id` in the reference. identity.md §16. */
const AllowList = dialectal({
  seeds: Schema.Array(AllowListEntry),
  reference: Schema.Array(
    Schema.transformOrFail(Schema.String, AllowListEntry, {
      strict: true,
      decode: (text, _options, ast) =>
        Either.match(parseAllowList([text]), {
          onLeft: ({ message }) => ParseResult.fail(new ParseResult.Type(ast, text, message)),
          onRight: ([entry]) =>
            entry === undefined ? ParseResult.fail(new ParseResult.Type(ast, text, "is no entry")) : ParseResult.succeed(entry)
        }),
      encode: (entry) => ParseResult.succeed(formatAllowListEntry(entry))
    })
  )
})

const { ip: _, allow_list: __, ...keyFields } = StoredKey.fields

/** A key without its secret. */
export const ApiKey = Schema.Struct({
  ...keyFields,
  allow_list: AllowList,
  /** Deprecated: derived from `scopes`. */
  scope: Schema.Literal("all", "application_connect", "")
}).annotations({ identifier: "APIKey" })
export interface ApiKey extends Schema.Schema.Type<typeof ApiKey> {}

/** A token in a list that may hold those of several users. */
export const TokenOfUser = Schema.Struct({ ...ApiKey.fields, username: Schema.String }).annotations({ identifier: "APIKeyWithOwner" })
export interface TokenOfUser extends Schema.Schema.Type<typeof TokenOfUser> {}

/** A secret that is shown this once. */
const NewKey = Schema.Struct({ key: Schema.Redacted(Schema.String) }).annotations({ identifier: "GenerateAPIKeyResponse" })

/** A secret in a body; empty when it is not given, which the service refuses together with everything else. */
export const secret = Schema.optionalWith(Schema.Redacted(Schema.String), { default: () => Redacted.make("") })

/** A whole number, of which those beyond 2⁵³ are only approximately what was sent: 100 years are 3·10¹⁸ ns. */
const nanoseconds = Schema.Number.pipe(
  Schema.filter((value) => Number.isInteger(value), { schemaId: Schema.IntSchemaId, message: () => "must be an integer" }),
  Schema.annotations({ jsonSchema: { type: "integer" } })
)

const user = { user: Schema.String }

const UsersPage = Schema.Struct({ users: Schema.Array(User), count: Schema.Number }).annotations({ identifier: "GetUsersResponse" })

export const identity = HttpApiGroup.make("identity")
  .add(HttpApiEndpoint.post("logOut", "/api/v2/users/logout").addSuccess(Response).addError(refusals("NotFound")))
  .add(
    HttpApiEndpoint.get("listUsers", "/api/v2/users")
      .setUrlParams(Query({ q: text, ...page }))
      .addSuccess(UsersPage)
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("createUser", "/api/v2/users")
      .setPayload(
        Body({
          email: text,
          username: text,
          name: text,
          password: secret,
          login_type: Schema.optional(LoginType),
          user_status: Schema.optional(UserStatus),
          service_account: flag,
          organization_ids: list(Uuid.Uuid),
          organization_id: Schema.optional(Uuid.Uuid),
          roles: list(Schema.String)
        })
      )
      .addSuccess(User, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getUser", "/api/v2/users/:user")
      .setPath(Path(user))
      .addSuccess(User)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("updateProfile", "/api/v2/users/:user/profile")
      .setPath(Path(user))
      .setPayload(Body({ username: text, name: text, avatar_url: text }))
      .addSuccess(User)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
  )
  .add(
    HttpApiEndpoint.put("updatePassword", "/api/v2/users/:user/password")
      .setPath(Path(user))
      .setPayload(Body({ password: secret, old_password: secret }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(Limiter, "login")
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getLoginType", "/api/v2/users/:user/login-type")
      .setPath(Path(user))
      .addSuccess(Schema.Struct({ login_type: LoginType }).annotations({ identifier: "UserLoginType" }))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.put("suspendUser", "/api/v2/users/:user/status/suspend")
      .setPath(Path(user))
      .addSuccess(User)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.put("activateUser", "/api/v2/users/:user/status/activate")
      .setPath(Path(user))
      .addSuccess(User)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(HttpApiEndpoint.get("listSiteRoles", "/api/v2/users/roles").addSuccess(Schema.Array(AssignableRole)).addError(refusals("Forbidden")))
  .add(
    HttpApiEndpoint.get("getUserRoles", "/api/v2/users/:user/roles")
      .setPath(Path(user))
      .addSuccess(UserRoles)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.put("updateUserRoles", "/api/v2/users/:user/roles")
      .setPath(Path(user))
      .setPayload(Body({ roles: list(Schema.String) }))
      .addSuccess(User)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.del("deleteUser", "/api/v2/users/:user")
      .setPath(Path(user))
      .addSuccess(HttpApiSchema.Empty(200))
      .addError(refusals("NotFound", "Forbidden", "InUse"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listUserOrganizations", "/api/v2/users/:user/organizations")
      .setPath(Path(user))
      .addSuccess(Schema.Array(Organization))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getUserOrganization", "/api/v2/users/:user/organizations/:organizationname")
      .setPath(Path({ ...user, organizationname: Schema.String }))
      .addSuccess(Organization)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.post("createKey", "/api/v2/users/:user/keys")
      .setPath(Path(user))
      .addSuccess(NewKey, { status: 201 })
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listTokens", "/api/v2/users/:user/keys/tokens")
      .setPath(Path(user))
      .setUrlParams(Query({ include_expired: lenientFlag, include_all: lenientFlag }))
      .addSuccess(Schema.Array(TokenOfUser))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("createToken", "/api/v2/users/:user/keys/tokens")
      .setPath(Path(user))
      .setPayload(
        Body({
          token_name: text,
          lifetime: Schema.optionalWith(nanoseconds, { default: () => 0 }),
          scopes: list(Schema.String),
          scope: text,
          allow_list: list(Schema.Union(Schema.Struct({ type: text, id: text }), Schema.String))
        })
      )
      .addSuccess(NewKey, { status: 201 })
      .addError(refusals("NotFound", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getTokenConfig", "/api/v2/users/:user/keys/tokens/tokenconfig")
      .setPath(Path(user))
      .addSuccess(Schema.Struct({ max_token_lifetime: Schema.Number }).annotations({ identifier: "TokenConfig" }))
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getToken", "/api/v2/users/:user/keys/tokens/:keyname")
      .setPath(Path({ ...user, keyname: Schema.String }))
      .addSuccess(ApiKey)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("getKey", "/api/v2/users/:user/keys/:keyid")
      .setPath(Path({ ...user, keyid: Schema.String }))
      .addSuccess(ApiKey)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteKey", "/api/v2/users/:user/keys/:keyid")
      .setPath(Path({ ...user, keyid: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("expireKey", "/api/v2/users/:user/keys/:keyid/expire")
      .setPath(Path({ ...user, keyid: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound"))
  )
  .middlewareEndpoints(Authenticated)
  .add(HttpApiEndpoint.get("hasFirstUser", "/api/v2/users/first").addSuccess(Response).addError(refusals("NotFound")))
  .add(
    HttpApiEndpoint.post("createFirstUser", "/api/v2/users/first")
      .setPayload(
        Body({
          email: text,
          username: text,
          name: text,
          password: secret,
          trial: flag,
          trial_info: Schema.optional(
            Body({
              first_name: text,
              last_name: text,
              phone_number: text,
              job_title: text,
              company_name: text,
              country: text,
              developers: text
            })
          ),
          onboarding_info: Schema.optional(Body({ newsletter_marketing: flag, newsletter_releases: flag }))
        })
      )
      .addSuccess(
        Schema.Struct({ user_id: Uuid.Uuid, organization_id: Uuid.Uuid }).annotations({ identifier: "CreateFirstUserResponse" }),
        { status: 201 }
      )
      .addError(refusals("Conflict"))
  )
  .add(HttpApiEndpoint.get("listLoginMethods", "/api/v2/users/authmethods").addSuccess(LoginMethods))
  .add(
    HttpApiEndpoint.post("validatePassword", "/api/v2/users/validate-password")
      .setPayload(Body({ password: secret }))
      .addSuccess(
        Schema.Struct({ valid: Schema.Boolean, details: Schema.String }).annotations({ identifier: "ValidateUserPasswordResponse" })
      )
      .annotate(Limiter, "login")
  )
  .add(
    HttpApiEndpoint.post("logIn", "/api/v2/users/login")
      .setPayload(Body({ email: text, password: secret }))
      .addSuccess(
        Schema.Struct({ session_token: Schema.Redacted(Schema.String) }).annotations({ identifier: "LoginWithPasswordResponse" }),
        { status: 201 }
      )
      .addError(refusals("Unauthenticated", "Forbidden"))
      .annotate(Limiter, "login")
  )
  .add(
    HttpApiEndpoint.get("listScopes", "/api/v2/auth/scopes").addSuccess(
      Schema.Struct({ external: Schema.Array(Schema.Literal(...externalScopes)) }).annotations({ identifier: "ExternalAPIKeyScopes" })
    )
  )
