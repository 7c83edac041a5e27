/** An identity provider: it speaks SCIM by the RFCs and takes nothing from the service that is not as they say. */
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import type { TestServer } from "../../../../../test/http/server.js"

const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User"

/** RFC 7643 §4.1; nothing else is taken. */
const ScimUser = Schema.Struct({
  schemas: Schema.Tuple(Schema.Literal(userSchema)),
  id: Uuid.Uuid,
  userName: Schema.NonEmptyString,
  name: Schema.Struct({ formatted: Schema.String }),
  displayName: Schema.NonEmptyString,
  emails: Schema.Array(Schema.Struct({ value: Schema.NonEmptyString, type: Schema.Literal("work"), primary: Schema.Boolean })),
  active: Schema.Boolean,
  meta: Schema.Struct({
    resourceType: Schema.Literal("User"),
    location: Schema.String,
    created: Schema.String.pipe(Schema.pattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)),
    lastModified: Schema.String.pipe(Schema.pattern(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/))
  })
})

/** RFC 7644 §3.4.2. */
const ListResponse = Schema.Struct({
  schemas: Schema.Tuple(Schema.Literal("urn:ietf:params:scim:api:messages:2.0:ListResponse")),
  totalResults: Schema.NonNegativeInt,
  startIndex: Schema.Int.pipe(Schema.positive()),
  itemsPerPage: Schema.NonNegativeInt,
  Resources: Schema.Array(Schema.Unknown)
})

/** RFC 7644 §3.12. */
const ScimError = Schema.Struct({
  schemas: Schema.Tuple(Schema.Literal("urn:ietf:params:scim:api:messages:2.0:Error")),
  status: Schema.NonEmptyString,
  scimType: Schema.optional(
    Schema.Literal("invalidFilter", "invalidPath", "invalidSyntax", "invalidValue", "mutability", "noTarget", "uniqueness")
  ),
  detail: Schema.NonEmptyString
})

const strictly = <A, I>(schema: Schema.Schema<A, I>) => Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })

export const readUser = strictly(ScimUser)
const readList = strictly(ListResponse)
export const readError = strictly(ScimError)

export interface ScimAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** Sends whatever it is given, and reads any answer as one of SCIM. */
export const send = async (
  server: TestServer,
  method: string,
  path: string,
  { authorization, body, type = "application/scim+json" }: { authorization?: string; body?: unknown; type?: string } = {}
): Promise<ScimAnswer> => {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { "content-type": type, ...(authorization === undefined ? {} : { authorization }) },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
  const text = await response.text()
  if (response.status === 204) return { status: 204, headers: response.headers, body: text === "" ? undefined : text }
  const contentType = response.headers.get("content-type")
  if (contentType !== "application/scim+json") throw new Error(`${method} ${path} answers ${contentType}: ${text.slice(0, 200)}`)
  const parsed: unknown = JSON.parse(text)
  if (response.status >= 400 && readError(parsed).status !== String(response.status)) throw new Error(`the status differs from ${text}`)
  return { status: response.status, headers: response.headers, body: parsed }
}

/** A provider with a key. */
export const scimClient = (server: TestServer, key: string) => {
  const call = (method: string, path: string, body?: unknown) =>
    send(server, method, `/scim/v2${path}`, { authorization: `Bearer ${key}`, body })
  const one = async (answer: Promise<ScimAnswer>) => {
    const { body, status } = await answer
    return { status, user: readUser(body) }
  }
  return {
    call,
    create: async (attributes: object) => {
      const { body, headers, status } = await call("POST", "/Users", { schemas: [userSchema], ...attributes })
      const user = readUser(body)
      if (headers.get("location") !== user.meta.location) throw new Error("the location differs from the header")
      return { status, user }
    },
    get: (id: string) => one(call("GET", `/Users/${id}`)),
    list: async (query: Readonly<Record<string, string>> = {}) => {
      const { body } = await call("GET", `/Users?${new URLSearchParams(query)}`)
      const { Resources, ...page } = readList(body)
      if (Resources.length !== page.itemsPerPage) throw new Error("itemsPerPage is not the length of the page")
      return { ...page, users: Resources.map((user) => readUser(user)) }
    },
    replace: (id: string, attributes: object) => one(call("PUT", `/Users/${id}`, { schemas: [userSchema], ...attributes })),
    patch: (id: string, ...Operations: ReadonlyArray<object>) =>
      one(call("PATCH", `/Users/${id}`, { schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], Operations })),
    delete: (id: string) => call("DELETE", `/Users/${id}`)
  }
}
