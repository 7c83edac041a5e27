import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { AgentAuthenticated, Authenticated, UserOrAgentAuthenticated } from "../contract/authentication.js"
import { ScimAuthorized } from "../contract/scim.js"
import { apiIn, type Dialect } from "../dialect.js"
import type { Names } from "../Brand.js"
import { isScimPath, scimContentType } from "../scim.js"

const responseRef = { $ref: "#/components/schemas/Response" }
const scimErrorRef = { $ref: "#/components/schemas/SCIMError" }

/** What a credential is called here, by the middleware that asks for it. */
const schemes: Readonly<Record<string, string>> = {
  [Authenticated.key]: "session",
  [AgentAuthenticated.key]: "session",
  [UserOrAgentAuthenticated.key]: "session",
  [ScimAuthorized.key]: "scim"
}

/** Schemas of the library's own refusals, which this interface never answers with. */
const unused = ["HttpApiDecodeError", "Issue", "PropertyKey"]

/** Describes an API as OpenAPI 3.1, as it is served in a dialect under a brand. Takes a second for the whole contract. deployment.md §1.10. */
export const describe = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  contract: HttpApi.HttpApi<Id, Groups, E, R>,
  { names, version, wire }: { readonly names: Names; readonly version: string; readonly wire: Dialect }
): OpenApi.OpenAPISpec => {
  const api = apiIn(wire, contract)
  const { components, paths, ...description } = OpenApi.fromApi(api)
  const guarded = guardedOperations(api)
  const described = Object.entries(paths).map(([path, operations]) => [
    path,
    Object.fromEntries(
      Object.entries(operations).map(([method, operation]) => [
        method,
        {
          ...operation,
          security: [guarded.get(`${method} ${path}`) ?? []].flat().map((scheme) => ({ [scheme]: [] })),
          responses: Object.fromEntries(
            Object.entries(operation.responses).map(([status, response]) => [
              status,
              isScimPath(path) && Number(status) >= 400
                ? { ...response, content: { [scimContentType]: { schema: scimErrorRef } } }
                : status === "400"
                  ? { ...response, content: { "application/json": { schema: responseRef } } }
                  : response
            ])
          )
        }
      ])
    )
  ])
  return {
    ...description,
    info: { title: names.word, version },
    // The parent of the folder that the description is served in, wherever that is mounted
    servers: [{ url: ".." }],
    paths: Object.fromEntries(described),
    components: {
      schemas: Object.fromEntries(Object.entries(components.schemas).filter(([name]) => !unused.includes(name))),
      securitySchemes: {
        session: { type: "apiKey", in: "header", name: names.sessionHeader },
        scim: { type: "http", scheme: "bearer" }
      }
    }
  }
}

/** The operations that need a credential, as "method path", with what it is called. */
const guardedOperations = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyMap<string, string> => {
  const guarded = new Map<string, string>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path }, middleware }) => {
      const [scheme] = [...middleware].flatMap(({ key }) => schemes[key] ?? [])
      if (scheme !== undefined) guarded.set(`${method.toLowerCase()} ${path.replace(/:(\w+)\??/g, "{$1}")}`, scheme)
    }
  })
  return guarded
}
