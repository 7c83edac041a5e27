/**
 * How the daemon's program offers an engine: its name, its options on the command line, and its layer. A package of an engine exports one as
 * `engine` from its entry point `daemon`, and the program loads it when `--engine` names it.
 */
import type { StartError } from "@atelier/core/platform"
import type { ProvisionerEngines } from "@atelier/core/provisioning"
import type { Duration, Layer } from "effect"

/** The forms of an option's value, and what an engine is given of each. */
interface OptionValues {
  readonly text: string | undefined
  /** Becomes an absolute path. */
  readonly file: string | undefined
  /** The option may be repeated; an empty list without it. */
  readonly texts: ReadonlyArray<string>
  /** A whole number of at least 1. */
  readonly number: number | undefined
  /** Has no value on the command line: whether it is given. */
  readonly flag: boolean
  /** A whole number up to a day. */
  readonly seconds: Duration.Duration | undefined
}

/** An option of an engine, which the command line knows as `--ENGINE-OPTION`. */
export interface EngineOption {
  readonly type: keyof OptionValues
  /** The word that stands for the value in the help, such as `FILE`; empty for a flag. */
  readonly value: string
  /** What the help says of it. */
  readonly description: string
}

type OptionsByName = Readonly<Record<string, EngineOption>>

/** The values of an engine's options, by their names. */
export type EngineOptionValues<Options extends OptionsByName = OptionsByName> = {
  readonly [Name in keyof Options]: OptionValues[Options[Name]["type"]]
}

/** What an engine of a daemon is started with. */
export interface EngineStart<Options extends OptionsByName = OptionsByName> {
  /** The daemon's directory, which its engines share: each uses a folder in it. An absolute path. */
  readonly directory: string
  /** The first word of the variables that agents are given, such as `SERVICE`. */
  readonly environmentPrefix: string
  /** The environment of the program, credentials included. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly options: EngineOptionValues<Options>
}

export interface DaemonEngine<Options extends OptionsByName = OptionsByName> {
  /** As on the command line, and as the engine itself is named. */
  readonly name: string
  readonly options: Options
  /** Starts the engine. Fails with `StartError` if it cannot work here. */
  layer(start: EngineStart<Options>): Layer.Layer<ProvisionerEngines, StartError>
}

/** Returns an engine with the types of its options checked. */
export const make = <const Options extends OptionsByName>(engine: DaemonEngine<Options>): DaemonEngine<Options> => engine
