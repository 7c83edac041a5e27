/** Modules that `terraform init` has downloaded, kept for later jobs of the same version. templates-and-provisioning.md §8.4. */
import { type LogSink, type ProvisionFailure } from "@atelier/core/provisioning"
import { Effect, Either, Option, Schema } from "effect"
import type { Dirent } from "node:fs"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { pack } from "tar-stream"
import { attempt, localPath, maximumEntries, maximumFileSize, readArchive, readFiles } from "@atelier/provisioner/engine"
import { writeFiles } from "./Machine.js"

/** Where Terraform keeps modules, in the folder of a source. */
export const modulesFolder = ".terraform/modules"

/** Bytes of the archive's files together. §8.4. */
const maximumSize = 20 * 1024 * 1024

const Manifest = Schema.parseJson(Schema.Struct({ Modules: Schema.Array(Schema.Struct({ Dir: Schema.String })) }))

/** Whether a manifest of Terraform names a module that is not in the source itself. */
const namesDownloads = (manifest: string): boolean =>
  Option.exists(Schema.decodeUnknownOption(Manifest)(manifest), ({ Modules }) =>
    Modules.some(({ Dir }) => Dir.startsWith(`${modulesFolder}/`))
  )

/** The files as paths in the source, in their order; undefined if an archive of them would not be whole, or `restored` would refuse it. */
const listed = async (directory: string): Promise<ReadonlyArray<string> | undefined> => {
  const found: Array<string> = []
  let size = 0
  const visit = async (path: string): Promise<boolean> => {
    const entries: ReadonlyArray<Dirent> = await fs.readdir(join(directory, path), { withFileTypes: true })
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const inner = `${path}/${entry.name}`
      // The history of a repository is no part of the module
      if (entry.name === ".git") continue
      if (entry.isDirectory()) {
        if (!(await visit(inner))) return false
      } else {
        const bytes = (await fs.lstat(join(directory, inner))).size
        size += bytes
        // Readers of archives pass over links, so a module with one would lose it
        if (!entry.isFile() || bytes > maximumFileSize || size > maximumSize || found.length === maximumEntries) return false
        if (Either.isLeft(localPath(inner))) return false
        found.push(inner)
      }
    }
    return true
  }
  // A template's programs may have put a link in place of a folder
  const [source, modules] = await Promise.all([fs.realpath(directory), fs.realpath(join(directory, modulesFolder))])
  if (modules !== join(source, modulesFolder)) return undefined
  return (await visit(modulesFolder)) ? found : undefined
}

const tarOf = async (directory: string, paths: ReadonlyArray<string>): Promise<Uint8Array> => {
  const writer = pack()
  for (const name of paths) {
    const mode = (await fs.stat(join(directory, name))).mode & 0o700
    // Of one time, so that the same modules make the same archive
    writer.entry({ name, mode, mtime: new Date(0) }, await fs.readFile(join(directory, name)))
  }
  writer.finalize()
  return new Uint8Array(await buffer(writer))
}

const tooMuch = "they are larger than 20 MiB, or hold links, a file of more than 10 MiB or a name that no archive may have"

/** A template's programs may have put a pipe or a link in its place. */
const readManifest = async (path: string): Promise<string> => {
  const stat = await fs.lstat(path)
  return stat.isFile() && stat.size <= maximumSize ? await fs.readFile(path, "utf8") : ""
}

/** The archive of what `init` has downloaded into the folder of a source. None without downloads, and for what no archive can hold. */
export const archived = (directory: string, log: LogSink): Effect.Effect<Option.Option<Uint8Array>> =>
  Effect.gen(function* () {
    const manifest = yield* Effect.promise(() => readManifest(join(directory, modulesFolder, "modules.json")).catch(() => ""))
    if (!namesDownloads(manifest)) return Option.none()
    const made = yield* attempt("they cannot be archived", async () => {
      const paths = await listed(directory)
      return paths === undefined ? undefined : await tarOf(directory, paths)
    }).pipe(
      Effect.mapError(({ message }) => message),
      Effect.filterOrFail(
        (tar) => tar !== undefined,
        () => tooMuch
      ),
      Effect.either
    )
    if (Either.isRight(made)) return Option.some(made.right)
    const output = `Builds download the modules again: ${made.left}.`
    yield* log({ source: "provisioner", level: "warn", stage: "Detecting ephemeral resources", output })
    return Option.none()
  })

/** The files of modules in an archive; none if it cannot be read. */
export const downloadedFiles = (archive: Uint8Array): Effect.Effect<ReadonlyMap<string, Uint8Array>> =>
  readArchive(archive).pipe(
    Effect.map((files) => new Map([...files].filter(([path]) => path.startsWith(`${modulesFolder}/`)))),
    Effect.orElseSucceed(() => new Map<string, Uint8Array>())
  )

/** Puts modules from an archive where `init` finds them. Without an archive that can be read `init` downloads them. */
export const restored = (archive: Uint8Array, directory: string, log: LogSink): Effect.Effect<void, ProvisionFailure> =>
  Effect.matchEffect(readFiles(archive), {
    onFailure: ({ message }) => {
      const output = `The modules are downloaded again: ${message}.`
      return log({ source: "provisioner", level: "warn", stage: "Initializing Terraform Directory", output })
    },
    onSuccess: (files) => writeFiles(new Map([...files].filter(([path]) => path.startsWith(`${modulesFolder}/`))), directory)
  })
