/**
 * Finds the template in a source, and everything that is wrong with it, each with its place in the file.
 */
import { HostOptions, nextTurn } from "@atelier/core/platform"
import { Effect, Either, Option, ParseResult, Schema, SchemaAST } from "effect"
import type { ArchiveFile } from "../engine/Archive.js"
import { Condition, type ExpressionProblem, namespaces, TemplateText, type ValueType } from "./Expression.js"
import { parseCondition, problemsInText } from "./ExpressionParser.js"
import { tokensOfCondition, tokensOfText } from "./ExpressionTokens.js"
import { check, type Declarations, unquoted } from "./Interpolation.js"
import { localPath } from "../engine/LocalPath.js"
import { allowedFormTypes } from "../engine/ParameterRules.js"
import { type Parameter, TemplateFile } from "./TemplateFile.js"
import { templatePath } from "../engine/TemplatePath.js"
import { formatPath, maximumProblems, type Path, type Problem, readYaml, type YamlSource } from "./YamlSource.js"

/** A template that is sound as far as it can be known without any value. */
export interface Template {
  readonly definition: TemplateFile
  readonly yaml: YamlSource
  /** Advice for the template's author; no rule is broken. */
  readonly warnings: ReadonlyArray<Problem>
  /** The source's files by path. */
  readonly files: ReadonlyMap<string, ArchiveFile>
}

/** The text at a path of plain values. */
const textAt = (value: unknown, path: Path): string | undefined => {
  const found = path.reduce<unknown>(
    (parent, step) => (typeof parent === "object" && parent !== null ? Reflect.get(parent, step) : undefined),
    value
  )
  return typeof found === "string" ? found : undefined
}

/** Where in a text its expressions break. */
const syntaxProblems = (text: string | undefined, path: Path): ReadonlyArray<ExpressionProblem> => {
  if (text === undefined) return []
  if (path.at(-1) !== "when") return problemsInText(text, maximumProblems)
  const parsed = parseCondition(text)
  return Either.isLeft(parsed) ? [parsed.left] : []
}

interface Placed<A> {
  readonly path: Path
  readonly value: A
}

interface Finding extends Placed<string> {
  /** The finding is about the key of a mapping, not about its value. */
  readonly atKey?: boolean
}

const annotated = (ast: SchemaAST.AST, issue: ParseResult.ParseIssue): string | undefined => {
  const message = Option.map(SchemaAST.getMessageAnnotation(ast), (annotation) => annotation(issue))
  return Option.isSome(message) && typeof message.value === "string" ? message.value : undefined
}

const expectedKind = (issue: ParseResult.Type): string => {
  const found =
    issue.actual === null
      ? "empty"
      : Array.isArray(issue.actual)
        ? "a list"
        : typeof issue.actual === "object"
          ? "a mapping"
          : "a single value"
  if (SchemaAST.isTypeLiteral(issue.ast)) return `must be a mapping, not ${found}`
  if (SchemaAST.isTupleType(issue.ast)) return `must be a list, not ${found}`
  return ParseResult.TreeFormatter.formatIssueSync(issue)
}

/** The keys of a mapping's schema. */
const keysOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  if (SchemaAST.isTypeLiteral(ast)) return ast.propertySignatures.map(({ name }) => String(name))
  if (SchemaAST.isTransformation(ast)) return keysOf(ast.from)
  return SchemaAST.isRefinement(ast) ? keysOf(ast.from) : []
}

const unknownKey = (key: string, known: ReadonlyArray<string>): string => {
  const meant = HostOptions.nearest(key, known)
  return `there is no "${key}" here${meant === undefined ? "" : `; did you mean "${meant}"?`}`
}

/**
 * The schema's findings in this package's words: each names the error in one value, without the schema's structure. `keys` are those that the
 * mapping around the issue may have.
 */
const findings = (issue: ParseResult.ParseIssue, path: Path, keys: ReadonlyArray<string> = []): ReadonlyArray<Finding> => {
  switch (issue._tag) {
    case "Pointer":
      return findings(issue.issue, [...path, ...[issue.path].flat()], keys)
    case "Unexpected":
      return [{ path, value: `${within(path.slice(0, -1))}${unknownKey(String(path.at(-1)), keys)}`, atKey: true }]
    case "Missing":
      return [{ path: path.slice(0, -1), value: `${within(path.slice(0, -1))}"${String(path.at(-1))}" is missing` }]
    case "Transformation":
      return findings(issue.issue, path)
    case "Refinement": {
      const message = issue.kind === "Predicate" ? annotated(issue.ast, issue) : undefined
      return message === undefined ? findings(issue.issue, path) : [{ path, value: `${within(path)}${message}` }]
    }
    case "Composite": {
      const message = SchemaAST.isUnion(issue.ast) ? annotated(issue.ast, issue) : undefined
      return message === undefined
        ? [issue.issues].flat().flatMap((part) => findings(part, path, keysOf(issue.ast)))
        : [{ path, value: `${within(path)}${message}` }]
    }
    case "Type":
    case "Forbidden": {
      const message = issue.message ?? annotated(issue.ast, issue) ?? (issue._tag === "Type" ? expectedKind(issue) : "is refused")
      return [{ path, value: `${within(path)}${message}` }]
    }
  }
}

const decodeProblems = (yaml: YamlSource, error: ParseResult.ParseError): ReadonlyArray<Problem> =>
  findings(error.issue, [])
    .slice(0, maximumProblems)
    .flatMap(({ atKey, path, value }) => {
      if (atKey === true) return yaml.keyProblem(path, value)
      const [syntax, ...others] = syntaxProblems(textAt(yaml.value, path), path)
      if (syntax === undefined || !value.endsWith(syntax.message)) return yaml.problem(path, value)
      return [
        yaml.problem(path, value, syntax.offset),
        ...others.map(({ message, offset }) => yaml.problem(path, `${within(path)}${message}`, offset))
      ]
    })
    .slice(0, maximumProblems)

const within = (path: Path): string => (path.length === 0 ? "" : `${formatPath(path)}: `)

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

const referenceProblems = (template: TemplateFile): ReadonlyArray<Placed<ExpressionProblem>> => {
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

/** The places whose value stood at an earlier place already. */
const repeated = (values: ReadonlyArray<Placed<string>>): ReadonlyArray<Placed<string>> => {
  const seen = new Set<string>()
  return values.filter(({ value }) => seen.has(value) || !seen.add(value))
}

const named = (part: string, values: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<Placed<string>> =>
  values.map(({ name }, index) => ({ path: [part, index, "name"], value: name }))

const nameProblems = ({
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
    )
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

const parameterProblems = (parameter: Parameter, path: Path): ReadonlyArray<Placed<string>> => {
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

/** Values that become texts, and that YAML reads as other values than are written. */
const rewrittenValues = ({ agents, env, metadata, parameters, presets, variables }: TemplateFile, yaml: YamlSource) => {
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
    ...agents.flatMap((agent, index) => Object.keys(agent.env).map((name) => ["agents", index, "env", name])),
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
const addressProblems = ({ agents }: TemplateFile): ReadonlyArray<Placed<string>> =>
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

/** Files and folders of a source, its root included. */
const namesIn = (paths: Iterable<string>): ReadonlySet<string> => {
  const names = new Set([""])
  for (const path of paths) {
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) names.add(path.slice(0, end))
  }
  return names
}

const fileProblems = (template: TemplateFile, files: ReadonlyMap<string, ArchiveFile>): ReadonlyArray<Placed<string>> => {
  const names = namesIn(files.keys())
  return template.files.flatMap(({ source }, index) =>
    source === undefined || names.has(sourceRoot(source))
      ? []
      : [{ path: ["files", index, "source"], value: `the template's source has no ${JSON.stringify(source)}` }]
  )
}

const sourceRoot = (source: string): string => Either.getOrElse(localPath(source), () => source)

/** The paths a `source` names: itself, or all beneath it with their path relative to it. */
export const sourceFiles = (
  paths: Iterable<string>,
  source: string
): ReadonlyArray<{ readonly path: string; readonly relative: string }> => {
  const root = sourceRoot(source)
  return Array.from(paths).flatMap((path) => {
    if (path === root) return [{ path, relative: "" }]
    if (root === "") return [{ path, relative: path }]
    return path.startsWith(`${root}/`) ? [{ path, relative: path.slice(root.length + 1) }] : []
  })
}

const quotingHint = (reference: string, isList: boolean): string =>
  isList
    ? `\${${reference}} enters a shell as it is; \${shell_list(${reference})} makes each element one word`
    : `\${${reference}} enters a shell as it is; \${shell(${reference})} makes it one word`

/** Values people choose, which enter a shell's text without being quoted for it. */
const unquotedValues = (template: TemplateFile): ReadonlyArray<Placed<ExpressionProblem>> => {
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

const undefinedPresetParameters = ({ parameters, presets }: TemplateFile): ReadonlyArray<Placed<string>> => {
  const names = new Set(parameters.map(({ name }) => name))
  return presets.flatMap((preset, index) =>
    Object.keys(preset.parameters)
      .filter((name) => !names.has(name))
      .map((name) => ({ path: ["presets", index, "parameters", name], value: `there is no parameter "${name}"` }))
  )
}

/** Words, signs and literals of all expressions of a template. Reading takes some microseconds for each. */
const maximumExpressionTokens = 5000

/** The text where a template's expressions become too many. */
const excessiveExpression = (value: unknown): Path | undefined => {
  let tokens = 0
  const excess = (value: unknown, path: Path): Path | undefined => {
    if (typeof value === "string") {
      const left = maximumExpressionTokens - tokens
      tokens += path.at(-1) === "when" ? tokensOfCondition(value, left) : tokensOfText(value, left)
      return tokens < maximumExpressionTokens ? undefined : path
    }
    if (typeof value !== "object" || value === null) return undefined
    for (const [key, member] of Object.entries(value)) {
      const found = excess(member, [...path, key])
      if (found !== undefined) return found
    }
    return undefined
  }
  return excess(value, [])
}

/** Reads and checks the template of a source, in pieces between which others have their turn. */
export const readTemplate = (files: ReadonlyMap<string, ArchiveFile>): Effect.Effect<Template, ReadonlyArray<Problem>> =>
  Effect.gen(function* () {
    const file = templatePath(files.keys()) ?? "template.yaml"
    const yaml = yield* readYaml(file, files.get(file)?.bytes ?? new Uint8Array(0))
    const excessive = excessiveExpression(yaml.value)
    if (excessive !== undefined) {
      return yield* Effect.fail([yaml.problem(excessive, `the template's expressions have more than ${maximumExpressionTokens} parts`)])
    }
    yield* nextTurn
    const definition = yield* Either.mapLeft(
      Schema.decodeUnknownEither(TemplateFile, { onExcessProperty: "error", errors: "all" })(yaml.value),
      (error) => decodeProblems(yaml, error)
    )
    yield* nextTurn
    const place = (findings: ReadonlyArray<Placed<string | ExpressionProblem>>): ReadonlyArray<Problem> =>
      findings
        .slice(0, maximumProblems)
        .map(({ path, value }) =>
          typeof value === "string"
            ? yaml.problem(path, `${within(path)}${value}`)
            : yaml.problem(path, `${within(path)}${value.message}`, value.offset)
        )
    const problems = place([
      ...nameProblems(definition),
      ...definition.parameters.flatMap((parameter, index) => parameterProblems(parameter, ["parameters", index])),
      ...rewrittenValues(definition, yaml),
      ...addressProblems(definition),
      ...fileProblems(definition, files),
      ...referenceProblems(definition)
    ])
    if (problems.length > 0) return yield* Effect.fail(problems)
    const withoutAgents = { path: [], value: "the template has no agents, so its workspaces have nothing to connect to" }
    const warnings = place([
      ...(definition.agents.length === 0 ? [withoutAgents] : []),
      ...unquotedValues(definition),
      ...undefinedPresetParameters(definition)
    ])
    return { definition, yaml, warnings, files }
  })
