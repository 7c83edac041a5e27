/** What the expressions of a template name: each name has to be declared where it is used, and to be quoted where it enters a shell. */
import { Condition, type ExpressionProblem, namespaces, TemplateText, type ValueType } from "./Expression.js"
import { check, type Declarations, unquoted } from "./Interpolation.js"
import type { Placed } from "./Placed.js"
import type { TemplateFile } from "./TemplateFile.js"
import type { Path } from "./YamlSource.js"

/** Every text and condition of a part of the template. */
const expressionsIn = (value: unknown, path: Path): ReadonlyArray<Placed<TemplateText | Condition>> => {
  if (value instanceof TemplateText || value instanceof Condition) return [{ path, value }]
  if (Array.isArray(value)) return value.flatMap((item, index) => expressionsIn(item, [...path, index]))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => expressionsIn(member, [...path, key]))
}

const workspaceMembers = new Set(["id", "name", "transition", "build_id", "access_url", "port"])
const ownerMembers = new Set(["id", "username", "name", "email", "login_type", "ssh_public_key"])
const templateMembers = new Set(["id", "name", "version"])
const taskMembers = new Set(["id", "prompt", "enabled"])

/** The declared names, given the parameters and variables. */
const declarations = (
  allowed: ReadonlyArray<string>,
  parameters: ReadonlyMap<string, ValueType>,
  variables: ReadonlyMap<string, ValueType>,
  agents: ReadonlySet<string> = new Set()
): Declarations => {
  const named = (members: ReadonlySet<string>, name: string): ValueType | undefined => (members.has(name) ? "text" : undefined)
  return (namespace, name) => {
    if (!allowed.includes(namespace)) return undefined
    switch (namespace) {
      case "parameter":
        return parameters.get(name)
      case "variable":
        return variables.get(name)
      case "workspace":
        return named(workspaceMembers, name)
      case "owner":
        // Only a build has a session
        if (name === "session_token") return allowed.includes("workspace") ? "text" : undefined
        return name === "groups" ? "list" : named(ownerMembers, name)
      case "template":
        return named(templateMembers, name)
      case "task":
        return named(taskMembers, name)
      case "agent_token":
        return named(agents, name)
    }
  }
}

const valueTypes = (values: ReadonlyArray<{ readonly name: string; readonly type: string }>): ReadonlyMap<string, ValueType> =>
  new Map(values.map(({ name, type }) => [name, type === "list(string)" ? "list" : "text"]))

/** Returns the expressions that name what is not declared, or of another kind than they need. */
export const referenceProblems = (template: TemplateFile): ReadonlyArray<Placed<ExpressionProblem>> => {
  const variables = valueTypes(template.variables)
  const parameters = valueTypes(template.parameters)
  const anything = declarations(namespaces, parameters, variables, new Set(template.agents.map(({ name }) => name)))
  const problems = (value: unknown, path: Path, declared: Declarations): ReadonlyArray<Placed<ExpressionProblem>> =>
    expressionsIn(value, path).flatMap((text) => check(text.value, declared).map((value) => ({ path: text.path, value })))
  return [
    ...problems(template.variables, ["variables"], () => undefined),
    // A parameter may depend on the ones above it: values are known from top to bottom
    ...template.parameters.flatMap((parameter, index) => {
      const earlier = valueTypes(template.parameters.slice(0, index))
      return problems(parameter, ["parameters", index], declarations(["parameter", "variable", "owner", "template"], earlier, variables))
    }),
    ...problems(template.presets, ["presets"], declarations(["variable"], parameters, variables)),
    ...problems(template.tags, ["tags"], declarations(["parameter", "variable", "owner"], parameters, variables)),
    ...(["metadata", "env", "files", "agents", "ai_task"] as const).flatMap((part) => problems(template[part], [part], anything))
  ]
}

const quotingHint = (reference: string, isList: boolean): string =>
  isList
    ? `\${${reference}} enters a shell as it is; \${shell_list(${reference})} makes each element one word`
    : `\${${reference}} enters a shell as it is; \${shell(${reference})} makes it one word`

/** Values people choose, which enter a shell's text without being quoted for it. */
export const unquotedValues = (template: TemplateFile): ReadonlyArray<Placed<ExpressionProblem>> => {
  const free = valueTypes(
    template.parameters.filter(({ options, type }) => options.length === 0 && (type === "string" || type === "list(string)"))
  )
  const shellTexts: ReadonlyArray<Placed<TemplateText | undefined>> = template.agents.flatMap((agent, index) => [
    { path: ["agents", index, "startup_script"], value: agent.startup_script },
    { path: ["agents", index, "shutdown_script"], value: agent.shutdown_script },
    ...agent.scripts.map(({ script }, at) => ({ path: ["agents", index, "scripts", at, "script"], value: script })),
    ...agent.metadata.map(({ script }, at) => ({ path: ["agents", index, "metadata", at, "script"], value: script })),
    ...agent.apps.map(({ command }, at) => ({ path: ["agents", index, "apps", at, "command"], value: command }))
  ])
  return shellTexts.flatMap(({ path, value: text }) =>
    (text === undefined ? [] : unquoted(text))
      .filter(
        ({ name, namespace }) =>
          (namespace === "parameter" && free.has(name)) ||
          (namespace === "owner" && (name === "name" || name === "groups")) ||
          (namespace === "task" && name === "prompt")
      )
      .map(({ name, namespace, offset }) => ({
        path,
        value: {
          offset,
          message: quotingHint(`${namespace}.${name}`, namespace === "owner" ? name === "groups" : free.get(name) === "list")
        }
      }))
  )
}
