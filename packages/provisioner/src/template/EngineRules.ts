/** What an engine asks of a template: that it is for this engine, and that its agents run as the engine runs them. */
import { containerEngines, templateEngines } from "../engine/TemplatePath.js"
import type { Placed } from "./Placed.js"
import type { TemplateFile } from "./TemplateFile.js"
import { TemplateText } from "./Expression.js"

/** An engine, as far as it decides which templates it runs. */
export interface EngineRules {
  /** As `engine:` names it. */
  readonly engine: string
  /** How it runs containers; undefined if it runs none. */
  readonly containers?: {
    /** Whether its operator lets containers have all rights of the machine. */
    readonly allowPrivileged: boolean
  }
}

/** Characters: the name is the value of a label and part of a host name. */
const maximumAgentName = 63

const packageOf = (engine: string): string => `@atelier/provisioner-${engine}`

const enable = (engines: ReadonlyArray<string>): string =>
  `the operator adds ${engines.join(" or ")} to the server's option --engines, or ${engines.map(packageOf).join(" or ")} to the provisioners of an application that embeds it`

/** Returns why the engine does not run a template at all; undefined if it is the template's engine. */
const otherEngine = (definition: TemplateFile, text: string, { engine }: EngineRules): Placed<string> | undefined => {
  const { engine: named } = definition
  if (named === undefined || named === engine) return undefined
  const path = ["engine"]
  // Which engine a template is for is looked up in its lines
  if (!templateEngines({ paths: ["template.yaml"], text: () => text }).includes(named))
    return { path, value: `must be a line of its own, "engine: ${named}"` }
  const hint = containerEngines.includes(named) ? `; ${enable([named])}` : ""
  return { path, value: `no engine of this server is called "${named}"${hint}` }
}

const withoutContainers = ({ agents, engine }: TemplateFile, rules: EngineRules): ReadonlyArray<Placed<string>> => {
  const remedy =
    engine === undefined
      ? `name an engine of containers in a line such as "engine: docker"; ${enable(containerEngines)}`
      : `name one that does, such as "engine: docker"; ${enable(containerEngines)}`
  return agents.flatMap(({ container }, index) =>
    container === undefined
      ? []
      : [{ path: ["agents", index, "container"], value: `the engine "${rules.engine}" runs no containers: ${remedy}` }]
  )
}

const withContainers = (
  { agents }: TemplateFile,
  { engine }: EngineRules,
  { allowPrivileged }: NonNullable<EngineRules["containers"]>
): ReadonlyArray<Placed<string>> =>
  agents.flatMap(({ container, name }, index) => {
    const path = ["agents", index]
    if (container === undefined) return [{ path, value: `"container" is missing, as the engine "${engine}" runs each agent in one` }]
    const { privileged } = container
    const isPlain =
      privileged === undefined || privileged === false || (privileged instanceof TemplateText && privileged.source === "false")
    return [
      ...(name.length > maximumAgentName
        ? [{ path: [...path, "name"], value: `must have at most ${maximumAgentName} characters, as the name of a container` }]
        : []),
      ...(isPlain || allowPrivileged
        ? []
        : [
            {
              path: [...path, "container", "privileged"],
              value: `is not allowed here: the operator of the server has to set the engine's option allowPrivileged`
            }
          ])
    ]
  })

/** Returns what an engine refuses of a template, whose file has this text. */
export const engineProblems = (definition: TemplateFile, text: string, rules: EngineRules): ReadonlyArray<Placed<string>> => {
  const other = otherEngine(definition, text, rules)
  if (other !== undefined) return [other]
  return rules.containers === undefined ? withoutContainers(definition, rules) : withContainers(definition, rules, rules.containers)
}
