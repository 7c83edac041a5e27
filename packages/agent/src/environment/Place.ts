import { mkdir, rename, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect, type Scope } from "effect"
import type { AgentMessages } from "@atelier/agent-protocol"
import type { AgentConfig } from "../AgentConfig.js"
import * as GitAskpass from "./GitAskpass.js"
import { ownCommand } from "./ownCommand.js"
import { absolutePath, directoryOf, expandPath, variablesOf } from "./Environment.js"

/** Where the workspace's commands run, and with what. */
export interface Place {
  readonly directory: string
  readonly variables: Readonly<Record<string, string>>
  readonly shell: string
  /** A path as the template writes it; relative ones begin at `base`. */
  readonly resolve: (path: string, base: string) => string
}

const explain = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Readable by the owner alone from the first moment, whatever was there before. */
const writeSecret = (file: string, value: Uint8Array) => {
  const draft = `${file}.${process.pid}.new`
  return Effect.tryPromise({
    try: async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await rm(draft, { force: true })
      await writeFile(draft, value, { mode: 0o600, flag: "wx" })
      await rename(draft, file)
    },
    catch: explain
  }).pipe(Effect.onError(() => Effect.ignore(Effect.tryPromise(() => rm(draft, { force: true })))))
}

/** Installs what git asks for tokens, where the deployment has providers of tokens for git. Without it, git asks its user. */
const installAskpass = (config: AgentConfig, { git_auth_configs }: AgentMessages.Manifest): Effect.Effect<string, never, Scope.Scope> => {
  const program = ownCommand()
  if (git_auth_configs === 0 || program === undefined) return Effect.succeed("")
  return Effect.catchAll(GitAskpass.install(config, program), (cause) =>
    Effect.as(Effect.logWarning(`Git cannot be given tokens: ${explain(cause)}`), "")
  )
}

/** The first of the directories that exists or can be made. A user of a container may have no home directory; commands start at the root then. */
const madeOf = ([first, ...others]: ReadonlyArray<string>): Effect.Effect<string> =>
  first === undefined
    ? Effect.succeed("/")
    : Effect.tryPromise({ try: () => mkdir(first, { recursive: true }), catch: explain }).pipe(
        Effect.as(first),
        Effect.catchAll((message) => Effect.zipRight(Effect.logWarning(`The directory cannot be made: ${message}`), madeOf(others)))
      )

/** Makes the manifest's directory, or falls back to the home directory, and writes the files of the owner's secrets. */
export const prepare = (config: AgentConfig, manifest: AgentMessages.Manifest): Effect.Effect<Place, never, Scope.Scope> =>
  Effect.gen(function* () {
    const variables = variablesOf(config, manifest, yield* installAskpass(config, manifest))
    const wanted = directoryOf(config, manifest)
    const directory = yield* madeOf([wanted, config.homeDirectory])
    const resolve = (path: string, base: string) => expandPath(path, { variables, home: config.homeDirectory, base })

    for (const { file_path, value } of manifest.secrets) {
      if (file_path === "") continue
      const file = absolutePath(file_path, { home: config.homeDirectory, base: config.homeDirectory })
      yield* Effect.catchAll(writeSecret(file, value), (message) => Effect.logWarning(`A secret's file cannot be written: ${message}`))
    }
    return { directory, variables, shell: config.shell, resolve }
  })
