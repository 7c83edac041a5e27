/** Clients whose id is the URL of a document that describes them (OAuth Client ID Metadata Document). oauth2-provider.md §17.6. */
import { Context, Data, Effect, Either } from "effect"
import { parse, type Uuid } from "../../platform/texts/Uuid.js"
import { type ClientMetadata, readClientMetadata } from "./ClientMetadata.js"
import { grantTypes, responseTypes } from "./OAuth2App.js"
import { OAuthError } from "../OAuthError.js"

/** Characters of a client id. */
const maximumUrl = 2048

/** A document cannot be had. */
export class DocumentUnavailable extends Data.TaggedError("DocumentUnavailable")<{ readonly message: string }> {}

/** Port: reads documents of clients. */
export class ClientDocuments extends Context.Reference<ClientDocuments>()("@atelier/core/ClientDocuments", {
  defaultValue: (): {
    /** The text at an `https` URL on the Internet. Follows no redirect; bounded in size and time. */
    readonly read: (url: string) => Effect.Effect<string, DocumentUnavailable>
  } => ({ read: () => new DocumentUnavailable({ message: "Documents of clients cannot be read here." }) })
}) {}

/** Whether a client id is the URL of a document. It is compared as a text, so only one writing of a URL is one. */
export const isDocumentUrl = (id: string): boolean => {
  if (id.length > maximumUrl || !id.startsWith("https://") || !URL.canParse(id)) return false
  const { hash, href, password, pathname, username } = new URL(id)
  return href === id && hash === "" && !id.includes("#") && username === "" && password === "" && pathname !== "/"
}

/** The id under which a client with a document is stored, from the SHA-256 of its URL: the same in all replicas (RFC 9562 §5.8). */
export const idOfDocument = (hashedUrl: Uint8Array): Uuid | undefined => {
  const bytes = hashedUrl.slice(0, 16)
  const [six = 0, eight = 0] = [bytes[6], bytes[8]]
  bytes.set([0x80 | (six & 0x0f)], 6)
  bytes.set([0x80 | (eight & 0x3f)], 8)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return parse(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"))
}

const refused = (message: string): OAuthError => new OAuthError({ error: "invalid_client_metadata", message })

type Fields = Readonly<Record<string, unknown>>

/** A client has one document for all servers: what this one does not know of is left out. */
const known = (value: unknown, words: ReadonlyArray<string>): unknown =>
  Array.isArray(value) ? value.filter((word) => words.includes(word)) : value

const parsed = (text: string): Fields | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** Reads the document of a client. Names the first member that breaks a rule. The name has the host, which no client can choose freely. */
export const readClientDocument = (url: string, text: string): Either.Either<ClientMetadata, OAuthError> => {
  const document = parsed(text)
  if (document === undefined) return Either.left(refused("The client's document must be a JSON object."))
  if (document["client_id"] !== url) return Either.left(refused("client_id: must be the URL of the document"))
  if ("client_secret" in document || "client_secret_expires_at" in document)
    return Either.left(refused("client_secret: must not be in a document that is public"))
  const method = document["token_endpoint_auth_method"] ?? "none"
  if (method !== "none" && method !== "private_key_jwt")
    return Either.left(refused("token_endpoint_auth_method: must be none or private_key_jwt"))
  const read = readClientMetadata({
    ...document,
    token_endpoint_auth_method: method,
    grant_types: known(document["grant_types"], grantTypes),
    response_types: known(document["response_types"], responseTypes)
  })
  const { host } = new URL(url)
  return Either.map(read, (metadata) => ({
    ...metadata,
    client_name: document["client_name"] === undefined ? host : `${host}: ${metadata.client_name}`,
    metadata: { ...metadata.metadata, client_id: url }
  }))
}
