/** The clients of the authorization server: apps that an administrator made, and clients that registered themselves. */
import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"

/** The grant type of devices without a browser (RFC 8628 §3.4). */
export const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"
/** The grant types of a client that names none. */
export const defaultGrantTypes = ["authorization_code", "refresh_token"] as const
export const grantTypes = [...defaultGrantTypes, deviceGrant] as const
export const responseTypes = ["code"] as const
/** How the parameters of an answer travel in the redirect URI (OAuth 2.0 Multiple Response Type Encoding Practices, section 2.1). */
export const responseModes = ["query", "fragment"] as const
export type ResponseMode = (typeof responseModes)[number]
/** What a client can ask to be shown to the user (OpenID Connect Core §3.1.2.1). */
export const prompts = ["none", "login", "consent", "select_account"] as const
export type Prompt = (typeof prompts)[number]
/** How a client proves who it is, if it can. `private_key_jwt` is an assertion that its key signs (RFC 7523). */
export const authMethods = ["client_secret_basic", "client_secret_post", "private_key_jwt", "none"] as const
export type AuthMethod = (typeof authMethods)[number]

/** Metadata that is stored and shown. Unless a member says so, it has no effect (RFC 7591 §2). */
export const DescriptiveMetadata = Schema.Struct({
  /** The URL of the document that describes the client, which is its client id too. Absent for any other client. */
  client_id: Schema.optional(Schema.String),
  client_uri: Schema.optional(Schema.String),
  logo_uri: Schema.optional(Schema.String),
  tos_uri: Schema.optional(Schema.String),
  policy_uri: Schema.optional(Schema.String),
  jwks_uri: Schema.optional(Schema.String),
  jwks: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  contacts: Schema.optional(Schema.Array(Schema.String)),
  scope: Schema.optional(Schema.String),
  software_id: Schema.optional(Schema.String),
  software_version: Schema.optional(Schema.String),
  /** The client sends all its authorization requests ahead (RFC 9126 §6). This member has an effect. */
  require_pushed_authorization_requests: Schema.optional(Schema.Boolean),
  /** All tokens of the client are bound to a key of it (RFC 9449 §5.2). This member has an effect. */
  dpop_bound_access_tokens: Schema.optional(Schema.Boolean)
})
export interface DescriptiveMetadata extends Schema.Schema.Type<typeof DescriptiveMetadata> {}

/** A client as it is stored. */
export const OAuth2App = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  name: Schema.String,
  icon: Schema.String,
  /** At least one, unless the client is only for devices without a browser; the first is the callback URL that administrators see. */
  redirect_uris: Schema.Array(Schema.String),
  client_type: Schema.Literal("public", "confidential"),
  dynamically_registered: Schema.Boolean,
  token_endpoint_auth_method: Schema.Literal(...authMethods),
  grant_types: Schema.Array(Schema.String),
  response_types: Schema.Array(Schema.String),
  metadata: DescriptiveMetadata,
  /** When a user last gave it a permission; null before the first. */
  last_used_at: Schema.NullOr(Timestamp)
})
export interface OAuth2App extends Schema.Schema.Type<typeof OAuth2App> {}

/** Whether a client authenticates with a secret. */
export const hasSecrets = ({
  client_type,
  token_endpoint_auth_method: method
}: Pick<OAuth2App, "client_type" | "token_endpoint_auth_method">) => client_type === "confidential" && method !== "private_key_jwt"

/** The id by which a client names itself. */
export const clientIdOf = ({ id, metadata }: Pick<OAuth2App, "id" | "metadata">): string => metadata.client_id ?? id

export const callbackUrl = ({ redirect_uris }: Pick<OAuth2App, "redirect_uris">): string => redirect_uris[0] ?? ""

/** A client secret without its hash. */
export const OAuth2AppSecret = Schema.Struct({
  id: Uuid,
  app_id: Uuid,
  created_at: Timestamp,
  /** The last characters. */
  truncated: Schema.String,
  last_used_at: Schema.NullOr(Timestamp)
})
export interface OAuth2AppSecret extends Schema.Schema.Type<typeof OAuth2AppSecret> {}
