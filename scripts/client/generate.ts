/** The generated sources of `@atelier/client`, from the contract as the sources have it. */
import { namesOf } from "../../packages/http/src/Brand.js"
import { Contract } from "../../packages/http/src/contract/Contract.js"
import { describe } from "../../packages/http/src/swagger/describe.js"
import { type Description, emitClient } from "./emit.js"

const descriptionOf = (): Description =>
  JSON.parse(JSON.stringify(describe(Contract, { names: namesOf(), version: "v0.0.0", wire: "seeds" })))

const folder = "packages/client/src/generated"

/** The text of each generated file, by its path in the repository. */
export const generate = (): ReadonlyMap<string, string> =>
  new Map([...emitClient(descriptionOf())].map(([name, text]) => [`${folder}/${name}`, text]))

/** The folders that hold nothing but generated files. */
export const folders = [folder]
