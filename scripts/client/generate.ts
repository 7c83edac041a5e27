/** The generated sources of both clients and of the server's routes, from the contract as the sources have it. */
import { namesOf } from "../../packages/http/src/Brand.js"
import { Contract } from "../../packages/http/src/contract/Contract.js"
import { describe } from "../../packages/http/src/swagger/describe.js"
import { routesOf } from "../../packages/http/src/server/Routes.js"
import { type Description, emitClient, emitInputs, emitRoutes } from "./emit.js"

const descriptionOf = (): Description =>
  JSON.parse(JSON.stringify(describe(Contract, { names: namesOf(), version: "v0.0.0", wire: "standard" })))

const client = "packages/client/src/generated"
const contract = "packages/http/src/contract/generated"
const effectClient = "packages/http/src/client/generated"

/** The folders that hold nothing but generated files. */
export const folders = [client, contract, effectClient]

/** The text of each generated file, by its path in the repository. */
export const generate = (): ReadonlyMap<string, string> => {
  const description = descriptionOf()
  return new Map([
    ...[...emitClient(description)].map(([name, text]): readonly [string, string] => [`${client}/${name}`, text]),
    [`${effectClient}/inputs.ts`, emitInputs(description)],
    [`${contract}/routes.ts`, emitRoutes(routesOf(Contract))]
  ])
}
