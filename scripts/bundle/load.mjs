// Runs a bundled script.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import vm from "node:vm"

/** Which program compiled the code. V8 looks at its own version alone: releases of Node that share it crash on each other's code. */
const compiler = `${process.version}-${process.platform}-${process.arch}`

/** Where the compiled code of a script is, for this version of Node on this kind of machine. */
export const cacheOf = (url) => new URL(`${url}.${compiler}.cache`)

const cachedCode = (url) => {
  try {
    return readFileSync(cacheOf(url))
  } catch {
    return undefined
  }
}

/** Answers the script and what it exports. `meta` stands for its `import.meta`. */
export const load = (url, meta) => {
  // The bundler writes no other characters than those of ASCII
  const source = readFileSync(url, "latin1")
  const script = new vm.Script(`(function (module, exports, require, importMeta) {${source}\n})`, {
    filename: fileURLToPath(url),
    cachedData: cachedCode(url),
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  })
  const module = { exports: {} }
  script.runInThisContext()(module, module.exports, createRequire(url), meta)
  return { script, exports: module.exports }
}
