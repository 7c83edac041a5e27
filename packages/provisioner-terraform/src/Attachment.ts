/** Which instance belongs to which: agents to resources, apps to agents, metadata to resources. templates-and-provisioning.md §10.1. */
import { Either } from "effect"
import { type ConfiguredModule, type Instance, ReadFailure } from "./Document.js"
import { type Graph, nearest } from "./Graph.js"
import { referredBy } from "./References.js"

/** What `terraform show` and `terraform graph` said. The configuration is part of plans only. */
export interface Attached {
  readonly instances: ReadonlyArray<Instance>
  readonly graph: Graph
  readonly configuration: ConfiguredModule | undefined
}

/** Resources that are shown through others. */
const hiddenTypes = new Set(["coder_script", "coder_agent", "coder_agent_instance", "coder_app", "coder_metadata"])

export const isShown = ({ mode, type }: Instance): boolean => mode === "managed" && !hiddenTypes.has(type)

/** The type of a managed resource; undefined for other nodes. */
const managedType = (label: string): string | undefined => /^(?:module\.[^.]+\.)*([a-z0-9_-]+)\.[^.]+$/i.exec(label)?.[1]

const notResources = new Set(["data", "local", "module", "output", "var"])

const isMachine = (label: string): boolean => {
  const type = managedType(label)
  if (type === undefined || notResources.has(type)) return false
  return !type.startsWith("coder_") || type === "coder_external_agent"
}

const textValue = ({ values }: Instance, key: string): string | undefined => {
  const value = values[key]
  return typeof value === "string" && value !== "" ? value : undefined
}

const isPrefix = (keys: ReadonlyArray<string>, of: ReadonlyArray<string>): boolean => keys.every((key, index) => of[index] === key)

/**
 * The instances that go with an instance which refers to their block: those of the same keys, else those of the modules that both are in,
 * else all.
 */
export const counterparts = (instance: Instance, candidates: ReadonlyArray<Instance>): ReadonlyArray<Instance> => {
  const same = candidates.filter(({ keys }) => keys.length === instance.keys.length && isPrefix(keys, instance.keys))
  if (same.length > 0) return same
  const enclosing = candidates.filter(({ keys }) => isPrefix(keys, instance.keys) || isPrefix(instance.keys, keys))
  return enclosing.length > 0 ? enclosing : candidates
}

export const withLabel = (instances: ReadonlyArray<Instance>): ((label: string | undefined) => ReadonlyArray<Instance>) => {
  const byLabel = new Map<string, Array<Instance>>()
  for (const instance of instances) {
    const known = byLabel.get(instance.label)
    if (known === undefined) byLabel.set(instance.label, [instance])
    else known.push(instance)
  }
  return (label) => (label === undefined ? [] : (byLabel.get(label) ?? []))
}

/** The instances of resources that an agent runs on: none if no resource depends on it. Fails if the graph lacks the agent. */
export const machinesOf = (
  { graph }: Attached,
  labelled: ReturnType<typeof withLabel>,
  agent: Instance
): Either.Either<ReadonlyArray<Instance>, ReadFailure> =>
  graph.declared.has(agent.label)
    ? Either.right(counterparts(agent, labelled(nearest(graph.dependents, agent.label, isMachine))))
    : Either.left(new ReadFailure({ message: `couldn't find node on graph: ${JSON.stringify(agent.label)}` }))

/** The instance whose attribute `id` is a known value. */
export type ById = ReadonlyMap<string, Instance>

export const byAttribute = (instances: ReadonlyArray<Instance>, attribute: string): ById => {
  const known = new Map<string, Instance>()
  for (const instance of instances) {
    const value = textValue(instance, attribute)
    if (value !== undefined) known.set(value, instance)
  }
  return known
}

/**
 * The block that an attribute takes its value from, by the configuration's references and else by the graph: Terraform prints the graph
 * without the edges that longer paths imply.
 */
const referred = ({ configuration, graph }: Attached, from: Instance, attribute: string, matches: (label: string) => boolean) => {
  const named = configuration === undefined ? [] : [...referredBy(configuration, from.label, attribute)].filter(matches)
  const [only] = named
  if (named.length === 1) return only
  return nearest(graph.dependencies, from.label, named.length === 0 ? matches : (label) => named.includes(label))
}

const isAgent = (label: string): boolean => ["coder_agent", "coder_devcontainer"].includes(managedType(label) ?? "")

/** The agent, or the dev container, that an app, script or variable is for: by the id where it is known, else by what refers to it. */
export const agentOf = (attached: Attached, labelled: ReturnType<typeof withLabel>, agents: ById, part: Instance): Instance | undefined => {
  const id = textValue(part, "agent_id")
  if (id !== undefined) return agents.get(id)
  const [agent] = counterparts(part, labelled(referred(attached, part, "agent_id", isAgent)))
  return agent
}

/** The resource that metadata describes, instance by instance. templates-and-provisioning.md §10.1 no. 4. */
export const describedBy = (
  attached: Attached,
  labelled: ReturnType<typeof withLabel>,
  resources: ById,
  metadata: Instance
): Instance | undefined => {
  const id = textValue(metadata, "resource_id")
  if (id !== undefined) return resources.get(id)
  const [target] = counterparts(metadata, labelled(referred(attached, metadata, "resource_id", isMachine)))
  return target
}
