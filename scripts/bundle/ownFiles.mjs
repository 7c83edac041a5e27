// Files of packages that a bundled program has beside it, as the packages themselves are not installed with it.
import { createRequire as requireOfNode } from "node:module"
import { fileURLToPath } from "node:url"

/** Where they lie below the folder of the program, by the names under which the code looks for them. */
const places = {
  "@atelier/agent/main": "own/agent/program.cjs",
  "@atelier/console/package.json": "own/console/package.json",
  "@atelier/http/package.json": "own/http/package.json",
  "@atelier/templates/package.json": "own/templates/package.json"
}

/** The client of SQLite that the program has in itself. Another one that is installed may have another driver. */
const client = "@effect/sql-sqlite-node"

/** Node's `createRequire`, which finds these files beside the program at `base`. */
export const createRequireBeside = (base) => (from) => {
  const require = requireOfNode(from)
  const resolve = (name) => {
    if (name === client) throw new Error(`${client} is part of the program`)
    return Object.hasOwn(places, name) ? fileURLToPath(new URL(places[name], base)) : require.resolve(name)
  }
  return Object.assign((name) => require(resolve(name)), { resolve: Object.assign(resolve, { paths: require.resolve.paths }) })
}
