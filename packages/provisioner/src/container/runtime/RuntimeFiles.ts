/** The files of a runtime: what an agent needs in a container of any image. */
import { Data, Effect } from "effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import { createRequire } from "node:module"
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"
import { interpreterOf } from "./ElfFile.js"

/** No runtime can be made; `message` says why and what to do. */
export class RuntimeError extends Data.TaggedError("RuntimeError")<{ readonly message: string }> {}

/** A file of the runtime by its path there. */
export interface RuntimeFile {
  readonly path: string
  readonly isProgram: boolean
  readonly source: { readonly _tag: "File"; readonly path: string } | { readonly _tag: "Text"; readonly text: string }
}

const fromFile = (path: string, file: string, isProgram = false): RuntimeFile => ({
  path,
  isProgram,
  source: { _tag: "File", path: file }
})

/** Paths of all files beneath a folder, relative to it. */
const filesBeneath = async (folder: string): Promise<ReadonlyArray<string>> => {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true })
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name).slice(folder.length + 1)] : []))
}

/** Libraries that the loader loads for a file, each by the name under which it looks for it. */
const librariesOf = async (loader: string, file: string): Promise<ReadonlyArray<readonly [name: string, path: string]>> => {
  const { stdout } = await promisify(execFile)(loader, ["--list", file], { env: {}, encoding: "utf8" })
  return stdout.split("\n").flatMap((line) => {
    const [, name, path] = /^\s*(\S+) => (\/\S+)/.exec(line) ?? []
    return name === undefined || path === undefined || name.includes("/") ? [] : [[name, path] as const]
  })
}

/** Libraries that the C library loads by itself to look up names, in releases that have them apart. */
const lookupLibraries = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"]

const isFile = (path: string): Promise<boolean> =>
  fs.stat(path).then(
    (stats) => stats.isFile(),
    () => false
  )

/** The folder of a package that `from` can load; undefined if it is not installed. */
const packageFolder = async (from: string, name: string): Promise<string | undefined> => {
  for (const folder of createRequire(from).resolve.paths(name) ?? []) {
    if (await isFile(join(folder, name, "package.json"))) return join(folder, name)
  }
  return undefined
}

const terminalPackage = "@lydell/node-pty"

/** The library of terminals, with its native module for this machine. Without it, an agent has everything but terminals. */
const terminalFiles = async (program: string): Promise<ReadonlyArray<RuntimeFile>> => {
  const main = await packageFolder(program, terminalPackage)
  if (main === undefined) return []
  const native = `${terminalPackage}-${process.platform}-${process.arch}`
  const folders = [[terminalPackage, main] as const, [native, await packageFolder(join(main, "package.json"), native)] as const]
  const files = await Promise.all(
    folders.map(async ([name, folder]) =>
      folder === undefined
        ? []
        : (await filesBeneath(folder))
            .filter((path) => /\.(?:js|node)$|^package\.json$|^LICENSE/.test(path))
            .map((path) => fromFile(join("node_modules", name, path), join(folder, path)))
    )
  )
  return files.flat()
}

/** The bundled program of the agent. */
const programFiles = async (program: string): Promise<ReadonlyArray<RuntimeFile>> => {
  const beside = (await fs.readdir(dirname(program))).filter((name) => /^program-(?:run|ssh)\./.test(name))
  return [
    fromFile("agent.js", program),
    ...beside.map((name) => fromFile(name, join(dirname(program), name))),
    { path: "package.json", isProgram: false, source: { _tag: "Text", text: '{"type":"commonjs"}\n' } }
  ]
}

const nodeFiles = async (node: string, modules: ReadonlyArray<string>): Promise<ReadonlyArray<RuntimeFile>> => {
  const loader = await interpreterOf(node)
  if (loader === undefined) throw new Error(`${node} is not a program that is linked dynamically`)
  const libraries = new Map((await Promise.all([node, ...modules].map((file) => librariesOf(loader, file)))).flat())
  for (const folder of new Set([...libraries.values()].map((path) => dirname(path)))) {
    for (const name of lookupLibraries) {
      if (!libraries.has(name) && (await isFile(join(folder, name)))) libraries.set(name, join(folder, name))
    }
  }
  libraries.delete(basename(loader))
  return [
    fromFile("bin/node", node, true),
    fromFile("lib/ld.so", loader, true),
    ...[...libraries].map(([name, path]) => fromFile(join("lib", name), path))
  ]
}

const attempt = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, RuntimeError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new RuntimeError({ message: `${what}: ${cause instanceof Error ? cause.message : String(cause)}` })
  })

/** The runtime of this machine: its Node with its loader and libraries, and the agent that is installed beside this package. */
export const ofThisMachine: Effect.Effect<ReadonlyArray<RuntimeFile>, RuntimeError> = Effect.suspend(() =>
  process.platform === "linux"
    ? attempt("the agent's runtime cannot be made of this machine's Node", async () => {
        const program = createRequire(import.meta.url).resolve("@atelier/agent/main")
        const [own, terminals] = await Promise.all([programFiles(program), terminalFiles(program)])
        const modules = terminals.flatMap(({ path, source }) => (path.endsWith(".node") && source._tag === "File" ? [source.path] : []))
        return [...own, ...terminals, ...(await nodeFiles(process.execPath, modules))]
      })
    : new RuntimeError({
        message: `this machine, which is ${process.platform}, has no runtime for containers: name the folder of one in the option runtimeDirectory`
      })
)

const required = ["agent.js", "bin/node", "lib/ld.so"]

/** The runtime of a folder, which another machine has made. */
export const ofFolder = (folder: string): Effect.Effect<ReadonlyArray<RuntimeFile>, RuntimeError> =>
  Effect.gen(function* () {
    const paths = yield* attempt(`the agent's runtime cannot be read`, () => filesBeneath(folder.replace(/\/+$/, "")))
    const missing = required.filter((path) => !paths.includes(path))
    if (missing.length > 0) return yield* new RuntimeError({ message: `the agent's runtime in ${folder} has no ${missing.join(", ")}` })
    return paths.map((path) => fromFile(path, join(folder, path), path === "bin/node" || path === "lib/ld.so"))
  })
