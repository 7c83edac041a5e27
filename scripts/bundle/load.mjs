// Runs a bundled program.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { cachedDataVersionTag } from "node:v8"
import vm from "node:vm"
import { crc32 } from "node:zlib"

/**
 * Which program compiled the code. V8 looks at its own version and flags alone, which its tag tells: releases of Node that share a version of it
 * crash on each other's code.
 */
const compiler = `${process.version}-${process.platform}-${process.arch}-${cachedDataVersionTag()}`

/** Where the compiled code of a script is, for this version of Node with its flags on this kind of machine. */
export const cacheOf = (url) => new URL(`${url}.${compiler}.cache`)

/** Eight bytes, as V8 would copy code whose address is no multiple of that. */
const checksumBytes = 8

/** V8 compares nothing of a source but its length. The checksum finds accidents alone: a program that can replace compiled code can replace the script too. */
const checksum = (source) => {
  const bytes = Buffer.alloc(checksumBytes)
  bytes.writeUInt32LE(crc32(source))
  return bytes
}

/** Compiled code, after the checksum of its source. */
export const kept = (url, code) => Buffer.concat([checksum(readFileSync(url)), code])

const cachedCode = (url, source) => {
  try {
    const bytes = readFileSync(cacheOf(url))
    return checksum(source).equals(bytes.subarray(0, checksumBytes)) ? bytes.subarray(checksumBytes) : undefined
  } catch {
    return undefined
  }
}

/** A script, which is a function of what Node gives a module, with its compiled code if there is any. */
const compiled = (url, bytes, cachedData) =>
  // The bundler writes no other characters than those of ASCII, and the function around the script: a text put together here would be copied
  new vm.Script(bytes.latin1Slice(), {
    filename: fileURLToPath(url),
    cachedData,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  })

/** Runs a script, and returns it with what it exports. `meta` stands for its `import.meta`. */
export const load = (url, meta) => {
  const bytes = readFileSync(url)
  const script = compiled(url, bytes, cachedCode(url, bytes))
  const module = { exports: {} }
  script.runInThisContext()(module, module.exports, createRequire(url), meta)
  return { script, exports: module.exports }
}
