/** Whose credential the parts of the interface want. identity.md §1.3. */
import type { Route } from "../../contract/Route.js"

type Caller = Route["caller"]

interface Part {
  /** The callers of the part's endpoints. */
  readonly callers: Set<Caller>
  readonly parts: Map<string, Part>
}

/** The key of a parameter among the parts, which no segment of a path equals. */
const parameter = "/"

/** Segments of `/api/v2` and `/api/experimental`, below which the parts lie. */
const prefixLength = 2

const segmentsOf = (path: string): ReadonlyArray<string> => path.split("/").slice(1)

const aPart = (): Part => ({ callers: new Set(), parts: new Map() })

const partsOf = (routes: ReadonlyArray<Pick<Route, "path" | "caller">>): Part => {
  const root = aPart()
  for (const { caller, path } of routes) {
    let part = root
    for (const segment of segmentsOf(path)) {
      const key = segment.startsWith(":") ? parameter : segment
      const next = part.parts.get(key) ?? aPart()
      part.parts.set(key, next)
      next.callers.add(caller)
      part = next
    }
  }
  return root
}

const callerIn = ({ callers, parts }: Part, segments: ReadonlyArray<string>, depth = 0): Caller | undefined => {
  const [only] = callers
  if (depth > prefixLength && callers.size === 1 && only !== "public") return only
  const [segment, ...rest] = segments
  if (segment === undefined) return undefined
  const [named, any] = [parts.get(segment), parts.get(parameter)]
  // A word that only public endpoints have stands for a name at the others: /users/login, /users/{user}
  if (named !== undefined && (any === undefined || named.callers.size > 1 || !named.callers.has("public")))
    return callerIn(named, rest, depth + 1)
  return any === undefined ? undefined : callerIn(any, rest, depth + 1)
}

/**
 * The caller that all endpoints want in the part of the interface that a path lies in. A request for a path or a method that the part does not
 * have tells others nothing.
 */
export const callersOf = (routes: ReadonlyArray<Pick<Route, "path" | "caller">>): ((path: string) => Caller | undefined) => {
  let root: Part | undefined
  // Made with the first request that has no route
  return (path) => callerIn((root ??= partsOf(routes)), segmentsOf(path))
}
