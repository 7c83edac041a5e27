/** The plainest requests of an interface that name known things, made from its description: nothing in them but ids, names and what is needed. */
import { type Description, type FuzzRequest, type JsonSchema, type Known, kindOf } from "./fuzz.js"

/** The parts of a request without its path. */
export interface Example {
  readonly query?: string
  readonly body?: unknown
}

const nil = "00000000-0000-0000-0000-000000000000"

/** Texts of fields that have to be of some form. */
const plainTexts: Readonly<Record<string, string>> = {
  email: "somebody@example.com",
  password: "SomeSecurePassword!",
  storage_method: "file",
  provisioner: "echo",
  "": "use"
}

/** Each operation's requests: with ids in its path and with names, without query and body, with every field that names something, and as its examples say. */
export const plainRequestsOf = (
  { components, paths }: typeof Description.Type,
  known: Known,
  examples: Readonly<Record<string, ReadonlyArray<Example>>>
): ReadonlyArray<FuzzRequest> => {
  /** The known things by the name of a field or parameter: names if the field takes names, else ids. */
  const valueOf = (name: string, byName = /name$/i.test(name)): string | undefined => {
    const values = known.get(kindOf(name)) ?? known.get(name)
    return byName ? values?.at(-1) : values?.[0]
  }

  /** A value of a schema; undefined where the field names nothing and may be left out. */
  const valueFor = (schema: JsonSchema, name: string, isNeeded: boolean): unknown => {
    if (schema.$ref !== undefined) return valueFor(components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, name, isNeeded)
    const named = valueOf(name)
    if (schema.enum !== undefined) return isNeeded ? schema.enum.find((value) => value !== "") : undefined
    const [member] = schema.anyOf ?? schema.allOf ?? []
    if (member !== undefined) return valueFor(member, name, isNeeded)
    switch (schema.type) {
      case "boolean":
        return isNeeded ? false : undefined
      case "integer":
      case "number":
        return isNeeded ? 1 : undefined
      case "array":
        return named === undefined || schema.items === false ? (isNeeded ? [] : undefined) : [valueFor(schema.items ?? {}, name, true)]
      case "object":
        return objectOf(schema, name)
      default:
        return named ?? (isNeeded ? (plainTexts[name] ?? (schema.format === "uuid" ? nil : "plain")) : undefined)
    }
  }

  const objectOf = ({ additionalProperties, properties = {}, required = [] }: JsonSchema, name = ""): object => {
    const fields = Object.entries(properties).map(([key, schema]) => [key, valueFor(schema, key, required.includes(key))] as const)
    // Tables of what each user or group gets
    const key = valueOf(name.replace(/_\w+$/, ""))
    const entries =
      typeof additionalProperties === "object" && key !== undefined ? [[key, valueFor(additionalProperties, "", true)] as const] : []
    return Object.fromEntries([...fields, ...entries].filter(([, value]) => value !== undefined))
  }

  const fillPath = (path: string, byName: boolean): string =>
    path.replaceAll(/(\w*?)s?\/\{(\w+)\}/g, (whole, collection: string, name: string) => {
      const value = valueOf(name === "name" ? collection : name, byName || /name$/i.test(name))
      return whole.replace(`{${name}}`, encodeURIComponent(value ?? "1"))
    })

  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters, requestBody }]) => {
      const operation = `${method.toUpperCase()} ${path}`
      const schema = Object.values(requestBody?.content ?? {})[0]?.schema
      const query = parameters.flatMap(({ in: place, name }) => {
        const value = place === "query" ? valueOf(name) : undefined
        return value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`]
      })
      const needed = schema === undefined ? undefined : {}
      const made: ReadonlyArray<Example> = [
        { body: needed },
        ...(query.length === 0 && schema === undefined ? [] : [{ query: query.join("&"), body: schema && valueFor(schema, "", true) }]),
        ...(examples[operation] ?? [])
      ]
      const targets = new Set([fillPath(path, false), fillPath(path, true)])
      return [...targets].flatMap((filled) =>
        made.map(({ body, query = "" }): FuzzRequest => ({
          operation,
          method: method.toUpperCase(),
          target: query === "" ? filled : `${filled}?${query}`,
          headers: {},
          body: body === undefined ? undefined : JSON.stringify(body)
        }))
      )
    })
  )
}
