/** Finds the engines that a command line names. */
import { Effect } from "effect"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { DaemonEngine } from "./DaemonEngine.js"
import { InvalidArguments } from "./DaemonConfig.js"
import { localEngine } from "./localEngine.js"

/** An engine of this project has a short name; the package of another one is named whole. */
const packageOf = (name: string): string => (/^[a-z][a-z0-9-]*$/.test(name) ? `@atelier/provisioner-${name}` : name)

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND")

/** Loads engines that a program has in itself, by their names. */
export type IncludedEngines = Readonly<Record<string, () => Promise<Readonly<Record<string, unknown>>>>>

/** The module of a package that is installed beside this one, or where the program was started. */
const moduleOf = async (specifier: string): Promise<Readonly<Record<string, unknown>>> => {
  try {
    return await import(specifier)
  } catch (error) {
    if (!isMissing(error)) throw error
    const require = createRequire(join(process.cwd(), "program.js"))
    return import(pathToFileURL(require.resolve(specifier)).href)
  }
}

const isEngine = (value: unknown): value is DaemonEngine =>
  typeof value === "object" &&
  value !== null &&
  "name" in value &&
  "options" in value &&
  "layer" in value &&
  typeof value.layer === "function"

const load = (name: string, included: IncludedEngines): Effect.Effect<DaemonEngine, InvalidArguments> => {
  if (name === localEngine.name) return Effect.succeed(localEngine)
  const specifier = `${packageOf(name)}/daemon`
  return Effect.tryPromise({
    try: included[name] ?? (() => moduleOf(specifier)),
    catch: (cause) =>
      new InvalidArguments({
        message: isMissing(cause)
          ? `--engine: ${JSON.stringify(name)} needs the package ${packageOf(name)}, which is not installed.`
          : `--engine: ${specifier} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  }).pipe(
    Effect.flatMap(({ engine }) =>
      isEngine(engine) ? Effect.succeed(engine) : new InvalidArguments({ message: `--engine: ${specifier} exports no engine.` })
    )
  )
}

/** Loads the engines with these names, each once. Fails with one sentence for a package that is missing or has no engine. */
export const loadEngines = (
  names: ReadonlyArray<string>,
  included: IncludedEngines
): Effect.Effect<ReadonlyArray<DaemonEngine>, InvalidArguments> =>
  Effect.map(
    Effect.forEach(names, (name) => load(name, included)),
    (engines) => [...new Set(engines)]
  )
