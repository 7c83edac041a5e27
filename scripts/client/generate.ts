/** The generated sources of both clients and of the server's routes, from the contract as the sources have it. */
import { appPaths } from "../../packages/http/src/apps/description.js"
import { namesOf } from "../../packages/http/src/wire/Brand.js"
import { Contract } from "../../packages/http/src/contract/Contract.js"
import { describe } from "../../packages/http/src/swagger/describe.js"
import { routesOf } from "../../packages/http/src/server/pipeline/Routes.js"
import { type Description, emitClient, emitInputs, emitRoutes } from "./emit.js"

const presented = { names: namesOf(), version: "v0.0.0", wire: "standard" } as const

const descriptionOf = (paths: object): Description =>
  JSON.parse(JSON.stringify(describe(Contract, presented, { tags: [], paths, schemas: {}, responses: {}, securitySchemes: {} })))

const client = "packages/client/src/generated"
const contract = "packages/http/src/contract/generated"
const effectClient = "packages/http/src/client/generated"

/** The folders that hold nothing but generated files. */
export const folders = [client, contract, effectClient]

/** The text of each generated file, by its path in the repository. */
export const generate = (): ReadonlyMap<string, string> => {
  return new Map([
    ...[...emitClient(descriptionOf(appPaths(presented.wire)))].map(([name, text]): readonly [string, string] => [
      `${client}/${name}`,
      text
    ]),
    [`${effectClient}/inputs.ts`, emitInputs(descriptionOf({}))],
    [`${contract}/routes.ts`, emitRoutes(routesOf(Contract))]
  ])
}
