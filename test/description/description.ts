/** Answers held to the interface's description, by a validator that knows nothing of the schemas it is made from. */
import { Contract } from "../../packages/http/src/contract/Contract.js"
import { namesOf } from "../../packages/http/src/wire/Brand.js"
import type { Dialect } from "../../packages/http/src/wire/dialect.js"
import { moreRoutes } from "../../packages/http/src/swagger/moreRoutes.js"
import { describe } from "../../packages/http/src/swagger/describe.js"
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"

type Json = Readonly<Record<string, unknown>>

interface MediaType {
  readonly schema: Json
}

interface DescribedResponse {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, MediaType>>
}

export interface DescribedOperation {
  readonly summary?: string
  readonly description?: string
  readonly security: ReadonlyArray<Json>
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: Json }>
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> }
  readonly responses: Readonly<Record<string, DescribedResponse>>
}

export interface DescribedInterface {
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description?: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>
    readonly responses: Readonly<Record<string, DescribedResponse>>
  }
}

/** The description of the whole interface, as it is served. */
export const describedIn = (wire: Dialect): DescribedInterface =>
  JSON.parse(JSON.stringify(describe(Contract, { names: namesOf(), version: "v0.0.0", wire }, moreRoutes(wire))))

/** A validator with the formats that the description uses. */
export const validator = (strict: boolean): Ajv2020 =>
  new Ajv2020({
    strict,
    validateSchema: strict,
    formats: {
      uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
      "date-time": /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/,
      int64: true,
      binary: true
    }
  })

/** The same schemas without room for fields that they do not name: an answer has none. */
const closed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== "object" || value === null) return value
  const inner = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, closed(part)]))
  return inner["type"] === "object" && "properties" in inner && !("additionalProperties" in inner)
    ? { ...inner, additionalProperties: false }
    : inner
}

/** An answer, as far as the description speaks of it. */
interface Answered {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly contentType: string | null
  readonly text: string
}

interface Route {
  readonly path: string
  readonly segments: ReadonlyArray<string>
  readonly methods: Readonly<Record<string, DescribedOperation>>
}

/** Whether an answer says that the path has no such operation: one with a slash behind it need not exist. */
const isOfNoOperation = (status: number, text: string): boolean => status === 405 || (status === 404 && text.includes("Route not found."))

/** Paths whose answers have the forms of OAuth2, also below the API. */
const isOfProtocol = (path: string): boolean => /^\/api\/v2\/(?:oauth2|\.well-known)\//.test(path)

const pointer = (...parts: ReadonlyArray<string>): string =>
  parts.map((part) => `/${encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("")

/** Finds what an answer has that its description does not; undefined if it fits. */
type Checker = (answer: Answered) => string | undefined

const makeChecker = (wire: Dialect): Checker => {
  const described = describedIn(wire)
  const ajv = validator(false).addSchema({ ...(closed(described) as Json), $id: "description" })
  const routes = Object.entries(described.paths)
    .map(([path, methods]): Route => ({ path, segments: path.split("/"), methods }))
    // The more literal a path, the sooner it is meant
    .toSorted((one, other) => [...one.path.matchAll(/\{/g)].length - [...other.path.matchAll(/\{/g)].length)
  const validators = new Map<string, ValidateFunction>()

  const validate = (at: string, value: unknown): string | undefined => {
    const validator = validators.get(at) ?? ajv.compile({ $ref: `description#${at}` })
    validators.set(at, validator)
    return validator(value) ? undefined : ajv.errorsText(validator.errors)
  }

  const routeOf = (path: string, method: string): Route | undefined => {
    const segments = path
      .replace(/\/{2,}/g, "/")
      .replace(/(?<=.)\/$/, "")
      .split("/")
    return routes.find(
      (route) =>
        method in route.methods &&
        route.segments.length === segments.length &&
        route.segments.every((segment, index) => segment.startsWith("{") || segment === segments[index])
    )
  }

  return ({ contentType, method, path, status, text }) => {
    const operation = method === "HEAD" ? "get" : method.toLowerCase()
    const route = routeOf(path, operation)
    const mediaType = contentType?.split(";")[0] ?? ""
    const isJson = mediaType === "application/json"
    const responses = route?.methods[operation]?.responses
    if (route === undefined || responses === undefined || isOfNoOperation(status, text)) {
      return isJson && text !== "" && path.startsWith("/api/") && !isOfProtocol(path)
        ? validate(pointer("components", "schemas", "Message"), JSON.parse(text))
        : undefined
    }
    const own = responses[String(status)]
    if (own === undefined) return `answers ${status}`
    const name = own.$ref?.split("/").at(-1)
    const at = name === undefined ? ["paths", route.path, operation, "responses", String(status)] : ["components", "responses", name]
    const content = (name === undefined ? own : described.components.responses[name])?.content
    if (method === "HEAD" || status === 101) return undefined
    if (content === undefined) return text === "" ? undefined : "has a body"
    if (text === "" && mediaType === "") return undefined
    if (content[mediaType] === undefined) return `has the content type ${contentType}`
    // A provisioner's state has the media type of JSON, whatever the provisioner wrote
    const isState = route.path.endsWith("/state") && status === 200
    return /[/+]json$/.test(mediaType) && text !== "" && !isState
      ? validate(pointer(...at, "content", mediaType, "schema"), JSON.parse(text))
      : undefined
  }
}

const checkers = new Map<Dialect, Checker>()

/** Throws if an answer is not as the description of the interface says. */
export const checkAnswer = (wire: Dialect, answer: Answered): void => {
  const check = checkers.get(wire) ?? makeChecker(wire)
  checkers.set(wire, check)
  const violation = check(answer)
  if (violation !== undefined) {
    throw new Error(
      `${answer.method} ${answer.path}, ${answer.status}: the answer is not as described: ${violation}\n${answer.text.slice(0, 2_000)}`
    )
  }
}
