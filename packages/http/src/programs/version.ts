import { StartError } from "@atelier/core/platform"
import { createRequire } from "node:module"

const { engines, version: released }: { readonly version: string; readonly engines: { readonly node: string } } = createRequire(
  import.meta.url
)("@atelier/http/package.json")

/** The version of this package, as clients compare it. deployment.md §1.2. */
export const version = `v${released}`

const numbersOf = (text: string): ReadonlyArray<number> => text.replace(/^\D+/, "").split(".").map(Number)

/** The range of versions of Node that run the packages, the agent's too. */
export const nodeRange = engines.node

/** Throws `StartError` where the running Node is older than this package's `engines` allow, before anything fails for it. */
export const refuseOldNode = (running = process.versions.node): void => {
  const least = numbersOf(engines.node)
  const differing = numbersOf(running).findIndex((number, index) => number !== (least[index] ?? number))
  if (differing === -1 || (numbersOf(running)[differing] ?? 0) > (least[differing] ?? 0)) return
  throw new StartError({ option: "Node.js", value: running, reason: `Atelier needs ${engines.node}` })
}
