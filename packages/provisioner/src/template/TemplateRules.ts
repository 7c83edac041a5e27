/** The rules of a template that its schema does not hold: names that are taken or missing, parameters, values, addresses and files. */
import { allowedFormTypes } from "../engine/ParameterRules.js"
import type { Container } from "./definition/Container.js"
import type { Parameter } from "./definition/Parameter.js"
import type { TemplateText } from "./Expression.js"
import type { Placed } from "./Placed.js"
import type { TemplateFile } from "./TemplateFile.js"
import { formatPath, type Path, type YamlSource } from "./YamlSource.js"

/** The places whose value stood at an earlier place already. */
const repeated = (values: ReadonlyArray<Placed<string>>): ReadonlyArray<Placed<string>> => {
  const seen = new Set<string>()
  return values.filter(({ value }) => seen.has(value) || !seen.add(value))
}

const namedIn = (path: Path, values: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<Placed<string>> =>
  values.map(({ name }, index) => ({ path: [...path, index, "name"], value: name }))

const named = (part: string, values: ReadonlyArray<{ readonly name: string }>) => namedIn([part], values)

/** The names that are unique within a container each. */
const containerNames = ({ sidecars, volumes }: Container, path: Path): ReadonlyArray<ReadonlyArray<Placed<string>>> => [
  namedIn([...path, "volumes"], volumes),
  namedIn([...path, "sidecars"], sidecars),
  ...sidecars.map((sidecar, index) => namedIn([...path, "sidecars", index, "volumes"], sidecar.volumes))
]

/** Returns names that occur twice, and those that nothing in the template has. */
export const nameProblems = ({
  agents,
  ai_task,
  env,
  external_auth,
  parameters,
  presets,
  variables
}: TemplateFile): ReadonlyArray<Placed<string>> => {
  const groups = [
    named("variables", variables),
    named("parameters", parameters),
    named("presets", presets),
    external_auth.map(({ id }, index) => ({ path: ["external_auth", index, "id"], value: id })),
    named("agents", agents).map(({ path, value }) => ({ path, value: value.toLowerCase() })),
    agents.flatMap(({ apps }, agent) => apps.map(({ slug }, index) => ({ path: ["agents", agent, "apps", index, "slug"], value: slug }))),
    ...agents.map(({ metadata }, agent) =>
      metadata.map(({ key }, index) => ({ path: ["agents", agent, "metadata", index, "key"], value: key }))
    ),
    ...agents.flatMap(({ container }, agent) => (container === undefined ? [] : containerNames(container, ["agents", agent, "container"])))
  ]
  const agentNames = new Set(agents.map(({ name }) => name))
  return [
    ...groups.flatMap(repeated).map(({ path, value }) => ({ path, value: `"${value}" occurs twice` })),
    ...env.flatMap(({ agent }, index) =>
      agent === undefined || agentNames.has(agent) ? [] : [{ path: ["env", index, "agent"], value: `there is no agent "${agent}"` }]
    ),
    ...(ai_task === undefined || agents.some(({ apps }) => apps.some(({ slug }) => slug === ai_task.app))
      ? []
      : [{ path: ["ai_task", "app"], value: `there is no app "${ai_task.app}"` }]),
    ...repeated(presets.flatMap((preset, index) => (preset.default ? [{ path: ["presets", index, "default"], value: "" }] : []))).map(
      ({ path }) => ({ path, value: "another preset is the default already" })
    )
  ]
}

/** Returns what a parameter's type does not allow. */
export const parameterProblems = (parameter: Parameter, path: Path): ReadonlyArray<Placed<string>> => {
  const { form_type, options, type, validation } = parameter
  const allowed = allowedFormTypes(type, options.length > 0)
  const wrongForm = form_type !== undefined && !allowed.includes(form_type)
  const kind = `a ${type} parameter ${options.length > 0 ? "with" : "without"} options`
  const forNumbers = type === "number" ? [] : (["min", "max", "monotonic"] as const).filter((rule) => validation?.[rule] !== undefined)
  return [
    ...(wrongForm ? [{ path: [...path, "form_type"], value: `${kind} takes ${[...new Set(allowed)].join(" or ")}` }] : []),
    ...forNumbers.map((rule) => ({ path: [...path, "validation", rule], value: "is for parameters of type number" })),
    ...(validation?.regex !== undefined && type !== "string"
      ? [{ path: [...path, "validation", "regex"], value: "is for parameters of type string" }]
      : [])
  ]
}

const inMapping = (path: Path, values: Readonly<Record<string, unknown>>): ReadonlyArray<Path> =>
  Object.keys(values).map((name) => [...path, name])

/** The values of a container that travel as texts. */
const containerTexts = ({ build, env, sidecars }: Container, path: Path): ReadonlyArray<Path> => [
  ...inMapping([...path, "env"], env),
  ...inMapping([...path, "build", "args"], build?.args ?? {}),
  ...sidecars.flatMap((sidecar, index) => inMapping([...path, "sidecars", index, "env"], sidecar.env))
]

/** Values that become texts, and that YAML reads as other values than are written. */
export const rewrittenValues = ({ agents, env, metadata, parameters, presets, variables }: TemplateFile, yaml: YamlSource) => {
  const types = new Map(parameters.map(({ name, type }) => [name, type]))
  const ofTexts = (type: string | undefined, ...paths: ReadonlyArray<Path>): ReadonlyArray<Path> => (type === "string" ? paths : [])
  const paths: ReadonlyArray<Path> = [
    ...variables.flatMap(({ type }, index) => ofTexts(type, ["variables", index, "default"])),
    ...parameters.flatMap(({ options, type }, index) =>
      ofTexts(type, ["parameters", index, "default"], ...options.map((_, at) => ["parameters", index, "options", at, "value"]))
    ),
    ...presets.flatMap((preset, index) =>
      Object.keys(preset.parameters).flatMap((name) => ofTexts(types.get(name), ["presets", index, "parameters", name]))
    ),
    ...env.map((_, index) => ["env", index, "value"]),
    ...agents.flatMap((agent, index) => [
      ...inMapping(["agents", index, "env"], agent.env),
      ...(agent.container === undefined ? [] : containerTexts(agent.container, ["agents", index, "container"]))
    ]),
    ...(metadata?.items ?? []).map((_, index) => ["metadata", "items", index, "value"])
  ]
  const otherwise = yaml.writtenOtherwise()
  if (otherwise.size === 0) return []
  return paths.flatMap((path): ReadonlyArray<Placed<string>> => {
    const written = otherwise.get(formatPath(path))
    return written === undefined ? [] : [{ path, value: `must be in quotes: without them, YAML does not keep ${written} as it is written` }]
  })
}

/** Addresses of apps and health checks that no proxy could open. An address that begins with an expression is known at the build. */
export const addressProblems = ({ agents }: TemplateFile): ReadonlyArray<Placed<string>> =>
  agents.flatMap(({ apps }, agent) =>
    apps.flatMap(({ external, healthcheck, url }, app) => {
      const at: Path = ["agents", agent, "apps", app]
      const addresses: ReadonlyArray<Placed<TemplateText | undefined>> = [
        ...(external ? [] : [{ path: [...at, "url"], value: url }]),
        { path: [...at, "healthcheck", "url"], value: healthcheck?.url }
      ]
      return addresses.flatMap(({ path, value }) => {
        const [start] = value?.parts ?? []
        return typeof start !== "string" || /^https?:\/\//i.test(start)
          ? []
          : [{ path, value: `must begin with http:// or https://, as in "http://localhost:8080", not ${JSON.stringify(start)}` }]
      })
    })
  )

/** Returns values of presets for parameters that do not exist. */
export const undefinedPresetParameters = ({ parameters, presets }: TemplateFile): ReadonlyArray<Placed<string>> => {
  const names = new Set(parameters.map(({ name }) => name))
  return presets.flatMap((preset, index) =>
    Object.keys(preset.parameters)
      .filter((name) => !names.has(name))
      .map((name) => ({ path: ["presets", index, "parameters", name], value: `there is no parameter "${name}"` }))
  )
}
