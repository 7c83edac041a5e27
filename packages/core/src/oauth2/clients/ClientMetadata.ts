/** The metadata with which clients register themselves (RFC 7591 §2). oauth2-provider.md §10.2. */
import { Either } from "effect"
import {
  authMethods,
  type AuthMethod,
  defaultGrantTypes,
  type DescriptiveMetadata,
  deviceGrant,
  grantTypes,
  responseTypes
} from "./OAuth2App.js"
import { OAuthError } from "../OAuthError.js"
import { type ClientType, redirectUriViolation } from "./RedirectUri.js"

/** What a client asks to be registered with, with the defaults applied. `client_name` is whole. */
export interface ClientMetadata {
  readonly client_name: string
  readonly redirect_uris: ReadonlyArray<string>
  readonly client_type: ClientType
  readonly token_endpoint_auth_method: AuthMethod
  readonly grant_types: ReadonlyArray<string>
  readonly response_types: ReadonlyArray<string>
  readonly metadata: DescriptiveMetadata
}

const defaultName = "Dynamically Registered Client"

const maximumUris = 20
const maximumContacts = 20
const maximumText = 2048
const maximumIcon = 256
/** Characters of a key set as JSON. */
const maximumKeys = 16 * 1024

const refused = (message: string): OAuthError => new OAuthError({ error: "invalid_client_metadata", message })

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value)

const isTexts = (value: unknown): value is ReadonlyArray<string> => Array.isArray(value) && value.every((item) => typeof item === "string")

/** Text that neither store nor page nor log can hold, wherever it is in a value. */
const hasControls = (value: unknown): boolean => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return /\p{Cc}|\\u00[01]|[\ud800-\udfff]/u.test(text)
}

/** One text of the metadata; an empty one counts as absent. */
const textOf = (fields: Fields, name: string, maximum = maximumText): string | undefined | OAuthError => {
  const value = fields[name] ?? ""
  if (typeof value !== "string") return refused(`${name}: must be a text`)
  if (value.length > maximum) return refused(`${name}: must have at most ${maximum} characters`)
  if (hasControls(value)) return refused(`${name}: must not contain control characters`)
  return value === "" ? undefined : value
}

const uriOf = (fields: Fields, name: string, maximum?: number): string | undefined | OAuthError => {
  const text = textOf(fields, name, maximum)
  if (typeof text !== "string") return text
  return /^https?:\/\/./i.test(text) && URL.canParse(text) ? text : refused(`${name}: must be an http or https URL`)
}

const flagOf = (fields: Fields, name: string): boolean | OAuthError => {
  const value = fields[name] ?? false
  return typeof value === "boolean" ? value : refused(`${name}: must be true or false`)
}

const wordsOf = (fields: Fields, name: string, words: ReadonlyArray<string>, missing: ReadonlyArray<string>) => {
  const value = fields[name] ?? []
  if (!isTexts(value)) return refused(`${name}: must be a list of texts`)
  if (value.length === 0) return missing
  const unknown = value.find((word) => !words.includes(word))
  return unknown === undefined ? [...new Set(value)] : refused(`${name}: must consist of ${words.join(", ")}`)
}

/** Keys of one client. */
const maximumKeyCount = 20

/** The rule that the key set of a client breaks (RFC 7517); undefined for one of public keys. */
export const keySetViolation = (jwks: unknown): string | undefined => {
  const keys = isObject(jwks) ? jwks["keys"] : undefined
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > maximumKeyCount) return `must have 1 to ${maximumKeyCount} keys`
  // A secret key that a client publishes by mistake must not be stored
  return keys.every((key) => isObject(key) && ["RSA", "EC", "OKP"].includes(String(key["kty"])) && !("d" in key) && !("k" in key))
    ? undefined
    : "must have public keys of the types RSA, EC and OKP"
}

/** Reads the body of a registration. Names the first member that breaks a rule. */
export const readClientMetadata = (body: unknown): Either.Either<ClientMetadata, OAuthError> => {
  if (!isObject(body)) return Either.left(refused("The body must be a JSON object."))
  const failure = (value: unknown): value is OAuthError => value instanceof OAuthError

  const method = textOf(body, "token_endpoint_auth_method") ?? "client_secret_basic"
  if (failure(method)) return Either.left(method)
  const token_endpoint_auth_method = authMethods.find((known) => known === method)
  if (token_endpoint_auth_method === undefined)
    return Either.left(refused(`token_endpoint_auth_method: must be one of ${authMethods.join(", ")}`))
  const client_type = token_endpoint_auth_method === "none" ? "public" : "confidential"

  const grants = wordsOf(body, "grant_types", grantTypes, defaultGrantTypes)
  if (failure(grants)) return Either.left(grants)
  const hasCodes = grants.includes("authorization_code")
  if (!hasCodes && !grants.includes(deviceGrant))
    return Either.left(refused(`grant_types: must contain authorization_code or ${deviceGrant}`))

  const uris = body["redirect_uris"] ?? []
  if (!isTexts(uris)) return Either.left(refused("redirect_uris: must be a list of texts"))
  if (uris.length === 0 && hasCodes) return Either.left(refused("redirect_uris: is required"))
  if (uris.length > maximumUris) return Either.left(refused(`redirect_uris: must have at most ${maximumUris} entries`))
  for (const uri of uris) {
    const violation = redirectUriViolation(uri, client_type)
    if (violation !== undefined) return Either.left(refused(`redirect_uris: ${violation}`))
  }

  const responses = wordsOf(body, "response_types", responseTypes, responseTypes)
  if (failure(responses)) return Either.left(responses)

  const client_name = textOf(body, "client_name") ?? defaultName
  if (failure(client_name)) return Either.left(client_name)
  const contacts = body["contacts"] ?? []
  if (!isTexts(contacts) || contacts.length > maximumContacts || contacts.some((contact) => contact.length > maximumText))
    return Either.left(refused(`contacts: must be a list of at most ${maximumContacts} texts`))
  if (hasControls(contacts)) return Either.left(refused("contacts: must not contain control characters"))
  const jwks = body["jwks"] ?? undefined
  if (jwks !== undefined && (!isObject(jwks) || JSON.stringify(jwks).length > maximumKeys || hasControls(jwks)))
    return Either.left(refused(`jwks: must be an object of at most ${maximumKeys} characters`))

  const texts = {
    client_uri: uriOf(body, "client_uri"),
    logo_uri: uriOf(body, "logo_uri", maximumIcon),
    tos_uri: uriOf(body, "tos_uri"),
    policy_uri: uriOf(body, "policy_uri"),
    jwks_uri: uriOf(body, "jwks_uri"),
    scope: textOf(body, "scope"),
    software_id: textOf(body, "software_id"),
    software_version: textOf(body, "software_version")
  }
  const wrong = Object.values(texts).find(failure)
  if (wrong !== undefined) return Either.left(wrong)
  if (token_endpoint_auth_method === "private_key_jwt") {
    if (jwks === undefined && texts.jwks_uri === undefined)
      return Either.left(refused("token_endpoint_auth_method: private_key_jwt needs jwks or jwks_uri"))
    const violation = jwks === undefined ? undefined : keySetViolation(jwks)
    if (violation !== undefined) return Either.left(refused(`jwks: ${violation}`))
    if (typeof texts.jwks_uri === "string" && !/^https:/i.test(texts.jwks_uri))
      return Either.left(refused("jwks_uri: must be an https URL"))
  }
  if (jwks !== undefined && texts.jwks_uri !== undefined) return Either.left(refused("jwks: must not be given together with jwks_uri"))

  const pushed = flagOf(body, "require_pushed_authorization_requests")
  if (failure(pushed)) return Either.left(pushed)
  const bound = flagOf(body, "dpop_bound_access_tokens")
  if (failure(bound)) return Either.left(bound)

  const described = Object.entries(texts).filter((entry): entry is [string, string] => typeof entry[1] === "string")
  return Either.right({
    client_name,
    redirect_uris: uris,
    client_type,
    token_endpoint_auth_method,
    grant_types: grants,
    response_types: responses,
    metadata: {
      ...Object.fromEntries(described),
      ...(jwks === undefined ? {} : { jwks }),
      ...(contacts.length === 0 ? {} : { contacts }),
      ...(pushed ? { require_pushed_authorization_requests: true } : {}),
      ...(bound ? { dpop_bound_access_tokens: true } : {})
    }
  })
}

/** Bytes of an app's name, and those that are kept of a longer one. */
const maximumName = 64
const keptName = 55

/**
 * The name of an app with so long a client name: cut at the boundary of a character, with the first digits of the whole name's hash, so that two
 * long names stay apart.
 */
export const appName = (clientName: string, hashedName: Uint8Array): string => {
  const encoder = new TextEncoder()
  if (encoder.encode(clientName).length <= maximumName) return clientName
  let kept = ""
  let bytes = 0
  for (const character of clientName) {
    bytes += encoder.encode(character).length
    if (bytes > keptName) break
    kept += character
  }
  const digits = Array.from(hashedName.subarray(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("")
  return `${kept}-${digits}`
}
