/** The dependency graph that `terraform graph -type=plan` prints. terraform.md §1. */

/** Who depends on whom, by the labels of nodes. Locals, variables, outputs and modules are nodes too. */
export interface Graph {
  /** The resources and data sources of the configuration. */
  readonly declared: ReadonlySet<string>
  readonly dependencies: ReadonlyMap<string, ReadonlyArray<string>>
  readonly dependents: ReadonlyMap<string, ReadonlyArray<string>>
}

const quoted = String.raw`"((?:[^"\\]|\\.)*)"`
const declaration = new RegExp(String.raw`^\s*${quoted} \[label = `)
const edge = new RegExp(String.raw`^\s*${quoted} -> ${quoted}\s*$`)

/**
 * The label of a node, or undefined for nodes that attach nothing: providers, the root, and what is left of removed resources. The close of
 * a module stays a node of its own, since everything in the module comes before it.
 */
const labelOf = (node: string): string | undefined => {
  const name = node.replaceAll(/\\(.)/g, "$1").replace(/^\[root\] /, "")
  if (name === "root" || name.startsWith("provider[") || / \((?:orphan|destroy)\)$/.test(name)) return undefined
  return name.replace(/ \(expand\)$/, "")
}

const append = (lists: Map<string, Array<string>>, key: string, item: string) => {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}

export const parseGraph = (dot: string): Graph => {
  const declared = new Set<string>()
  const dependencies = new Map<string, Array<string>>()
  const dependents = new Map<string, Array<string>>()
  for (const line of dot.split("\n")) {
    const [, node] = declaration.exec(line) ?? []
    const label = node === undefined ? undefined : labelOf(node)
    if (label !== undefined) declared.add(label)
    const [, from, to] = edge.exec(line) ?? []
    if (from === undefined || to === undefined) continue
    const [dependent, dependency] = [labelOf(from), labelOf(to)]
    if (dependent === undefined || dependency === undefined) continue
    append(dependencies, dependent, dependency)
    append(dependents, dependency, dependent)
  }
  return { declared, dependencies, dependents }
}

/** The smallest of the labels at the smallest distance from a node that the predicate holds for; each edge counts one. */
export const nearest = (
  edges: ReadonlyMap<string, ReadonlyArray<string>>,
  from: string,
  matches: (label: string) => boolean
): string | undefined => {
  const seen = new Set([from])
  let ring: ReadonlyArray<string> = [from]
  while (ring.length > 0) {
    const next: Array<string> = []
    for (const label of ring) {
      for (const neighbour of edges.get(label) ?? []) {
        if (seen.has(neighbour)) continue
        seen.add(neighbour)
        next.push(neighbour)
      }
    }
    const [smallest] = next.filter(matches).toSorted((a, b) => (a < b ? -1 : 1))
    if (smallest !== undefined) return smallest
    ring = next
  }
  return undefined
}
