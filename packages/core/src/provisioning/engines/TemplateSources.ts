import { Context, Effect, Option, type Scope, Stream } from "effect"
import { Archives } from "../files/Archives.js"
import type { FileId } from "../files/File.js"
import { FileRepository } from "../files/FileRepository.js"
import { ModuleArchives } from "../files/ModuleArchives.js"
import * as Lru from "../../platform/collections/Lru.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { Charge } from "../jobs/WorkspaceBuildJobs.js"
import {
  type Engine,
  type LogSink,
  ProvisionerEngines,
  type ProvisionerSession,
  ProvisionFailure,
  type SourceFiles
} from "./ProvisionerEngine.js"

/** A source that an engine works on, and what of that work can be done again. */
export interface OpenSource extends Omit<ProvisionerSession, "modules">, Pick<Engine, "repeatable"> {
  /** The stored archive of the modules that plans have downloaded; None without any. */
  readonly modules: Effect.Effect<Option.Option<FileId>, ProvisionFailure>
  /** Hears what an owner's builds cost once the cost of this one is judged. Absent where the job's log tells it. */
  readonly charged?: (charge: Charge) => Effect.Effect<void>
  /** Bytes of the source, and of the modules that it was opened with. */
  readonly size: number
  /** The name of the engine; undefined where the daemon that works on the source does not tell. */
  readonly engine: string | undefined
}

/** What the engines of a process say of a source. */
interface Choice {
  /** The engine that opens the source: one that runs it, or that says why none does. Undefined where no engine knows its language. */
  readonly engine: Engine | undefined
  readonly opinion: Opinion
}

/** The first engine that understands a source with these files; without one, the first that knows which engines do. */
const choose = (engines: ReadonlyArray<Engine>, source: SourceFiles): Choice => {
  const engine = engines.find(({ understands }) => understands(source))
  if (engine !== undefined) return { engine, opinion: { refusal: undefined, engines: [engine.name] } }
  const shown = source.paths.slice(0, 10).join(", ") || "none"
  const refusal = `No provisioner of this server understands the template. Its files are: ${shown}.`
  for (const other of engines) {
    const names = other.enginesFor?.(source) ?? []
    if (names.length > 0)
      return { engine: other, opinion: { refusal: `The template needs the engine ${names.join(" or ")}.`, engines: names } }
  }
  return { engine: undefined, opinion: { refusal, engines: undefined } }
}

/** The engine that opens a source with these files: one that understands it, or that says which engine is missing. Fails without such an engine. */
export const engineFor = (engines: ReadonlyArray<Engine>, source: SourceFiles): Effect.Effect<Engine, ProvisionFailure> => {
  const { engine, opinion } = choose(engines, source)
  return engine === undefined ? new ProvisionFailure({ message: opinion.refusal ?? "" }) : Effect.succeed(engine)
}

/** Sources that were read last, at least. A file never changes, and the jobs of a template read the same one. */
const keptSources = 32

/** What a process finds of a source. */
export interface Opinion {
  /** Why none of its engines runs the source; undefined where one does. */
  readonly refusal: string | undefined
  /** The names of the engines that run the source; undefined where none is known, and where the source cannot be read. */
  readonly engines: ReadonlyArray<string> | undefined
}

/** Sources that a process has compared with its engines. */
const keptOpinions = 1_000

/** Bytes of a source that is kept: most templates have a few kilobytes. */
const maximumKept = 128 * 1024

/** The methods of {@link TemplateSources}. */
export interface TemplateSourcesService {
  /** What this process knows of a source already: whether an engine of its own understands it. */
  readonly opinionOf: (id: FileId) => Option.Option<Opinion>

  /** Looks whether an engine of this process understands a source. One that is gone or is no archive is for any daemon to refuse. */
  readonly judge: (id: FileId) => Effect.Effect<Opinion>

  /** The archive of a template, a tar. Fails when it is gone. */
  readonly read: (id: FileId) => Effect.Effect<Uint8Array, ProvisionFailure>

  /**
   * Opens a template's source with the engine that understands it; what was unpacked goes with the scope. `modules` are those that the
   * source's import has downloaded. Fails when the source is gone, is not an archive, or no engine of this server understands it.
   */
  readonly open: (id: FileId, log: LogSink, modules?: FileId) => Effect.Effect<OpenSource, ProvisionFailure, Scope.Scope>

  /** As `open`, without a log, for an evaluation: with the modules that the import of a version has downloaded. */
  readonly openVersion: (version: { readonly id: Uuid }, source: FileId) => Effect.Effect<OpenSource, ProvisionFailure, Scope.Scope>
}

const make = Effect.gen(function* () {
  const files = yield* FileRepository
  const archives = yield* Archives
  const engines = yield* ProvisionerEngines
  const archivesOfModules = yield* ModuleArchives

  const kept = Lru.make<FileId, Uint8Array>(keptSources)

  const read = (id: FileId): Effect.Effect<Uint8Array, ProvisionFailure> =>
    Effect.gen(function* () {
      const known = kept.get(id)
      if (known !== undefined) return known
      const file = yield* files.byId(id)
      if (Option.isNone(file)) return yield* new ProvisionFailure({ message: "The template's source does not exist any more." })
      const source = new Uint8Array(file.value.size)
      let offset = 0
      yield* Stream.runForEach(files.content(id), (chunk) =>
        Effect.sync(() => {
          source.set(chunk, offset)
          offset += chunk.length
        })
      )
      if (source.length <= maximumKept) kept.set(id, source)
      return source
    })

  const open = (id: FileId, log: LogSink, modules?: FileId): Effect.Effect<OpenSource, ProvisionFailure, Scope.Scope> =>
    Effect.gen(function* () {
      const source = yield* read(id)
      const outline = yield* Effect.mapError(
        archives.outline(source),
        ({ detail = "", message }) => new ProvisionFailure({ message, validations: [{ field: "file_id", detail: detail || message }] })
      )
      const engine = yield* engineFor(engines, outline)
      const downloaded = modules === undefined ? undefined : yield* read(modules)
      const session = yield* engine.open(source, log, downloaded)
      return {
        ...session,
        repeatable: engine.repeatable,
        engine: engine.name,
        size: source.length + (downloaded?.length ?? 0),
        modules: Effect.flatMap(
          session.modules ?? Effect.succeedNone,
          Option.match({
            onNone: () => Effect.succeedNone,
            onSome: (tar) => Effect.asSome(archivesOfModules.store(tar))
          })
        )
      }
    })

  const opinions = Lru.make<FileId, Opinion>(keptOpinions)

  return {
    opinionOf: (id: FileId): Option.Option<Opinion> => Option.fromNullable(opinions.get(id)),

    judge: (id: FileId): Effect.Effect<Opinion> =>
      Effect.gen(function* () {
        const outline = yield* Effect.option(Effect.flatMap(read(id), archives.outline))
        const unread: Opinion = { refusal: undefined, engines: undefined }
        const opinion = Option.match(outline, { onNone: () => unread, onSome: (files) => choose(engines, files).opinion })
        opinions.set(id, opinion)
        return opinion
      }),

    read,

    open,

    openVersion: (version: { readonly id: Uuid }, source: FileId) =>
      Effect.flatMap(archivesOfModules.ofVersion(version.id), (modules) => open(source, () => Effect.void, Option.getOrUndefined(modules)))
  }
})

/** Sources of templates, opened with the engines of this process. */
export class TemplateSources extends Context.Tag("@atelier/core/TemplateSources")<TemplateSources, TemplateSourcesService>() {
  static readonly layer = standingOn(service(TemplateSources, make), ModuleArchives.layer)
}
