/** The modules of a template, read before any value of them is evaluated. templates-and-provisioning.md §4.5. */
import { nextTurn } from "@atelier/core/platform"
import { Clock, Effect, Either, Option, Schema } from "effect"
import { posix } from "node:path"
import { localPath } from "@atelier/provisioner/engine"
import { inReadingOrder, isConfiguration, makeModuleSource, type ModuleSource, SourceError } from "./Configuration.js"
import { modulesFolder } from "./DownloadedModules.js"
import { EvaluationError } from "./EvaluationError.js"

/** Modules of all kinds in one template. */
export const maximumModules = 500
/** Modules in modules. */
export const maximumNesting = 16
/** Bytes of the files that describe the modules. */
const maximumBytes = 4 * 1024 * 1024
/** Milliseconds for which files are read before others have their turn. */
const turn = 10

/** The modules of a template by their calls: the module `b` of the module `a` of the root is `a.b`, and the root is empty. */
export interface ModuleTree {
  /** The files of the template and of the modules that its import has downloaded, by their paths. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Undefined for a module that is not among the files. Throws `SourceError` if a file of it is broken, and `EvaluationError` beyond the bounds. */
  readonly module: (key: string) => ModuleSource | undefined
}

export const keyOfCall = (caller: string, name: string): string => (caller === "" ? name : `${caller}.${name}`)

const Manifest = Schema.parseJson(Schema.Struct({ Modules: Schema.Array(Schema.Struct({ Key: Schema.String, Dir: Schema.String })) }))

/** The folders of downloaded modules by their keys. Only folders of the archive are named. */
const downloadedFolders = (downloaded: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, string> => {
  const text = new TextDecoder().decode(downloaded.get(`${modulesFolder}/modules.json`))
  const manifest = Option.getOrElse(Schema.decodeUnknownOption(Manifest)(text), () => ({ Modules: [] }))
  return new Map(
    manifest.Modules.flatMap(({ Dir, Key }) => {
      const folder = Either.getOrElse(localPath(Dir), () => "")
      return folder.startsWith(`${modulesFolder}/`) ? [[Key, folder] as const] : []
    })
  )
}

/** The source that a call names; undefined if it is no literal. */
const namedSource = (block: ModuleSource["blocks"] extends ReadonlyMap<string, infer Block> ? Block : never): string | undefined => {
  try {
    const expression = block.attributes.get("source")?.expression()
    return expression?.kind === "literal" && typeof expression.value === "string" ? expression.value : undefined
  } catch (error) {
    if (error instanceof EvaluationError) return undefined
    throw error
  }
}

type Loaded = Either.Either<ModuleSource, SourceError> | undefined

/**
 * Reads the root and the modules that are called from it, file by file, so that other requests have their turn. Never fails: a broken module is
 * told when its module is asked for. `downloaded` are the files of the archive that the import has stored.
 */
export const loadModules = (
  template: ReadonlyMap<string, Uint8Array>,
  downloaded: ReadonlyMap<string, Uint8Array> = new Map()
): Effect.Effect<ModuleTree> =>
  Effect.gen(function* () {
    const files = new Map([...template, ...downloaded])
    const folders = downloadedFolders(downloaded)
    const byFolder = new Map<string, Array<string>>()
    for (const path of files.keys()) {
      if (!isConfiguration(posix.basename(path))) continue
      const folder = posix.dirname(path)
      const known = byFolder.get(folder)
      if (known === undefined) byFolder.set(folder, [path])
      else known.push(path)
    }
    const read = new Map<string, Loaded>()
    let bytesRead = 0
    let begunAt = yield* Clock.currentTimeMillis

    const sourceIn = (folder: string): Effect.Effect<Loaded> =>
      Effect.gen(function* () {
        const paths = byFolder.get(folder)
        if (read.has(folder) || paths === undefined) return read.get(folder)
        const { add, source } = makeModuleSource(folder)
        let loaded: Loaded = Either.right(source)
        for (const path of inReadingOrder(paths)) {
          const bytes = files.get(path) ?? new Uint8Array(0)
          bytesRead += bytes.byteLength
          if ((yield* Clock.currentTimeMillis) - begunAt > turn) {
            yield* nextTurn
            begunAt = yield* Clock.currentTimeMillis
          }
          const added = Either.try({
            try: () => {
              if (bytesRead > maximumBytes)
                throw new SourceError({ cause: `the modules have more than ${maximumBytes} bytes`, isLimit: true })
              add(path, bytes)
            },
            catch: (error) => {
              if (error instanceof SourceError) return error
              throw error
            }
          })
          if (Either.isLeft(added)) {
            loaded = Either.left(added.left)
            break
          }
        }
        read.set(folder, loaded)
        return loaded
      })

    const modules = new Map<string, Loaded>()
    const waiting: Array<{ readonly key: string; readonly folder: string; readonly nesting: number }> = [
      { key: "", folder: ".", nesting: 0 }
    ]
    let hasMore = false
    for (let next = waiting.shift(); next !== undefined && modules.size < maximumModules; next = waiting.shift()) {
      const { folder, key, nesting } = next
      const loaded = yield* sourceIn(folder)
      modules.set(key, loaded)
      if (loaded === undefined || Either.isLeft(loaded)) continue
      for (const block of loaded.right.blocks.values()) {
        if (block.type !== "module") continue
        const inner = keyOfCall(key, block.labels[0] ?? "")
        const named = namedSource(block)
        const isLocal = named !== undefined && /^\.\.?\//.test(named)
        const place = isLocal ? posix.join(folder, named).replace(/\/$/, "") : folders.get(inner)
        if (place === undefined) continue
        if (nesting < maximumNesting) waiting.push({ key: inner, folder: place, nesting: nesting + 1 })
        else hasMore = true
      }
    }
    hasMore ||= modules.size === maximumModules
    return {
      files,
      module: (key) => {
        const loaded = modules.get(key)
        if (hasMore && !modules.has(key)) throw new EvaluationError({ cause: "the template has too many modules", isLimit: true })
        return loaded === undefined ? undefined : Either.getOrThrowWith(loaded, (error) => error)
      }
    }
  })
