import { productName } from "@atelier/core/deployment"
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as OpenApiJsonSchema from "@effect/platform/OpenApiJsonSchema"
import { Context, type Schema } from "effect"
import type { Names } from "../wire/Brand.js"
import { AlsoAnswers, AlsoEvents, Messages, TakesBytes } from "../contract/annotations.js"
import { AgentAuthenticated, Authenticated, OptionallyAuthenticated, UserOrAgentAuthenticated } from "../contract/authentication.js"
import { eventMessage } from "../contract/eventMessage.js"
import { ScimAuthorized } from "../contract/identity/scim.js"
import { ProxyAuthenticated } from "../contract/deployment/workspaceProxies.js"
import { apiIn, type Dialect, schemaIn } from "../wire/dialect.js"
import { isScimPath } from "../wire/scim.js"
import { refusalResponseOf, refusalResponses, undeclaredAt } from "./refusals.js"
import { parameterSchema, tidy } from "./schemas.js"

type Operation = OpenApi.OpenAPISpecOperation

/** The credentials that each middleware accepts: any one of them is enough. */
const credentials: Readonly<Record<string, ReadonlyArray<OpenApi.OpenAPISecurityRequirement>>> = {
  [Authenticated.key]: [{ session: [] }],
  [AgentAuthenticated.key]: [{ agent: [] }],
  [UserOrAgentAuthenticated.key]: [{ session: [] }, { agent: [] }],
  [OptionallyAuthenticated.key]: [{ session: [] }, {}],
  [ScimAuthorized.key]: [{ scim: [] }],
  [ProxyAuthenticated.key]: [{ proxy: [] }]
}

const securitySchemes = (names: Names) => ({
  session: {
    type: "apiKey",
    in: "header",
    name: names.sessionHeader,
    description:
      "A user's session token or API token. The session cookie, `Authorization: Bearer` and the query parameter of the same name as the cookie work too."
  },
  agent: { type: "apiKey", in: "header", name: names.sessionHeader, description: "The token of a workspace's agent." },
  proxy: { type: "apiKey", in: "header", name: names.proxyTokenHeader, description: "The token of a workspace proxy." },
  scim: { type: "http", scheme: "bearer", description: "The key that the deployment shares with its identity provider." }
})

/** The meaning of a success, by status. */
const successes: Readonly<Record<string, string>> = {
  "101": "The connection has become a WebSocket.",
  "200": "The request has succeeded.",
  "201": "The resource has been created.",
  "202": "The request has been accepted; a build does the rest.",
  "204": "The request has succeeded; there is nothing to say.",
  "206": "The request has succeeded, with the part that was asked for.",
  "303": "The answer is at the address in `Location`.",
  "307": "The browser goes on at the address in `Location`."
}

const bytes = { schema: { type: "string", format: "binary" } }

/** Routes that are no endpoints of an API. */
export interface MoreRoutes {
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly paths: object
  readonly schemas: Readonly<Record<string, object>>
  readonly responses: Readonly<Record<string, object>>
  readonly securitySchemes: Readonly<Record<string, object>>
}

const noRoutes: MoreRoutes = { tags: [], paths: {}, schemas: {}, responses: {}, securitySchemes: {} }

/**
 * Describes an API, and more routes, as OpenAPI 3.1, as it is served in a dialect under a brand. Takes a second for the whole contract.
 * deployment.md §1.10.
 */
export const describe = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  contract: HttpApi.HttpApi<Id, Groups, E, R>,
  { names, version, wire }: { readonly names: Names; readonly version: string; readonly wire: Dialect },
  more: MoreRoutes = noRoutes
): OpenApi.OpenAPISpec => {
  const api = apiIn(wire, contract)
  const { components, openapi, paths, tags } = OpenApi.fromApi(api, { additionalPropertiesStrategy: "allow" })
  const details = detailsOf(api)
  /** The messages of a stream, which OpenAPI 3.1 cannot describe. Its schemas join those of the description. */
  const withStream = (operation: DescribedOperation, annotations: Context.Context<never>): object => {
    const form = Context.get(annotations, Messages)
    if (form === undefined) return operation
    const { framing, resume, schema } = form
    const contentOf = (of: Schema.Schema.AnyNoContext) => ({
      schema: tidy(OpenApiJsonSchema.makeWithDefs(schemaIn(wire, of), { defs: components.schemas, additionalPropertiesStrategy: "allow" }))
    })
    const value = contentOf(schema)
    const { responses } = operation
    const upgrades = "101" in responses
    // A WebSocket sends an event's type beside its value, and a stream of events as the event's name
    const message = upgrades && framing === "events" ? contentOf(eventMessage(schema)) : value
    const isEvents = !upgrades || Context.get(annotations, AlsoEvents)
    return {
      ...operation,
      responses: {
        ...responses,
        ...(upgrades ? { "101": { ...responses["101"], content: { "application/json": message } } } : {}),
        ...(isEvents ? { "200": { description: successes["200"], content: { "text/event-stream": message } } } : {})
      },
      "x-stream": { framing, resume, ...value }
    }
  }
  const described = Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => {
          const detail = details.get(`${method} ${path}`) ?? undescribed
          return [method, withStream(describeOperation(path, operation, detail), detail.annotations)]
        })
      )
    ])
  )
  const everyPath = { ...described, ...more.paths }
  const referred = JSON.stringify(everyPath)
  const description = {
    openapi,
    info: {
      title: productName(names.word),
      version,
      description: "The control plane of remote development workspaces.",
      contact: { name: productName(names.word) },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" }
    },
    // The parent of the folder that the description is served in, wherever that is mounted
    servers: [{ url: ".." }],
    tags: [...tags, ...more.tags],
    paths: everyPath,
    components: {
      schemas: {
        ...Object.fromEntries(
          Object.entries(components.schemas)
            .filter(([name]) => !unused.has(name))
            .map(([name, schema]) => [name, tidy(schema)])
        ),
        ...more.schemas
      },
      responses: {
        ...Object.fromEntries(refusalResponses.filter(([name]) => referred.includes(`/${name}"`))),
        ...more.responses
      },
      securitySchemes: { ...securitySchemes(names), ...more.securitySchemes }
    }
  }
  // The library's type knows neither named responses nor other content types than its own
  return description as unknown as OpenApi.OpenAPISpec
}

/** Schemas of the library's own refusals, which this interface never answers with. */
const unused: ReadonlySet<string> = new Set(["HttpApiDecodeError", "Issue", "PropertyKey"])

/** The properties of an endpoint beyond its schemas. */
interface Details {
  readonly security: ReadonlyArray<OpenApi.OpenAPISecurityRequirement>
  readonly annotations: Context.Context<never>
}

const undescribed: Details = { security: [], annotations: Context.empty() }

/** The details of each endpoint, by "method path". */
const detailsOf = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyMap<string, Details> => {
  const details = new Map<string, Details>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, middleware }) => {
      const path = endpoint.path.replace(/:(\w+)\??/g, "{$1}")
      const security = [...middleware].flatMap(({ key }) => credentials[key] ?? [])
      details.set(`${endpoint.method.toLowerCase()} ${path}`, { security, annotations: endpoint.annotations })
    }
  })
  return details
}

/** An operation with the parts that streams add to. */
interface DescribedOperation {
  readonly responses: Readonly<Record<string, object>>
}

const describeOperation = (path: string, operation: Operation, { annotations, security }: Details) => {
  const { parameters, requestBody, responses, ...rest } = operation
  const bytesTaken = Context.get(annotations, TakesBytes)
  const alsoAnswered = Context.get(annotations, AlsoAnswers)
  const statuses = new Set([...Object.keys(responses), ...Object.keys(alsoAnswered)])
  return {
    ...rest,
    security,
    parameters: parameters.map(({ schema, in: place, name, required }) => ({
      name,
      in: place,
      required,
      schema: parameterSchema(place, schema)
    })),
    ...(requestBody === undefined ? {} : { requestBody: { ...requestBody, content: mapContent(requestBody.content) } }),
    ...(bytesTaken.length === 0
      ? {}
      : { requestBody: { required: true, content: Object.fromEntries(bytesTaken.map((type) => [type, bytes])) } }),
    responses: {
      ...undeclaredAt(path),
      ...Object.fromEntries(
        [...statuses].map((status) => {
          const refusal = refusalResponseOf(status, isScimPath(path), alsoAnswered[status])
          if (refusal !== undefined) return [status, refusal]
          const content = { ...mapContent(responses[Number(status)]?.content ?? {}), ...alsoAnswered[status] }
          return [
            status,
            {
              description: successes[status],
              ...(Number(status) >= 300 ? { headers: { Location: { required: true, schema: { type: "string" } } } } : {}),
              ...(Object.keys(content).length === 0 ? {} : { content })
            }
          ]
        })
      )
    }
  }
}

/** Bytes that are JSON may be any JSON. */
const contentSchema = (type: string, schema: object): object => {
  const tidied = tidy(schema)
  return type === "application/json" && tidied["format"] === "binary" ? {} : tidied
}

const mapContent = (content: object): Readonly<Record<string, object>> =>
  Object.fromEntries(
    Object.entries<{ readonly schema: object }>({ ...content }).map(([type, { schema }]) => [
      type.split(";")[0],
      { schema: contentSchema(type, schema) }
    ])
  )
