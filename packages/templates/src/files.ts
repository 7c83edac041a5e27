/** Where the files of this package are. */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/** Returns a folder of the package. It is found by the package's name, as a program that holds this module's code may be elsewhere. */
export const folderOf = (...names: ReadonlyArray<string>): string =>
  join(dirname(createRequire(import.meta.url).resolve("@atelier/templates/package.json")), ...names)
