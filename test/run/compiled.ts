/** Has tests run what the compiler wrote for the packages' sources, instead of the sources. */
import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { Plugin } from "vitest/config"

/** The compiled modules of packages, which Node loads by itself. */
export const compiledModules = /\/packages\/[^/]+\/dist\//

/** Finds the compiled module where a test names a source of a package by its path: two forms of a module in one process would be two modules. */
export const compiled: Plugin = {
  name: "compiled",
  enforce: "pre",
  resolveId(id, importer) {
    if (importer === undefined || !id.startsWith(".")) return undefined
    const [, folder, module] = /^(.*\/packages\/[^/]+)\/src\/(.*\.js)$/.exec(resolve(dirname(importer), id)) ?? []
    if (folder === undefined || module === undefined) return undefined
    const file = join(folder, "dist", module)
    // The console is an application, of which the compiler writes nothing
    return existsSync(file) ? file : undefined
  }
}
