import { Context, Effect, Either } from "effect"
import { Access, AccessObjects } from "../access/index.js"
import { DeploymentConfiguration } from "./options/DeploymentConfiguration.js"
import { DeploymentOptions } from "./options/DeploymentOptions.js"
import { report, type Descriptor } from "./options/report.js"
import { sshOptions } from "./options/sshSettings.js"
import { service } from "../platform/wiring/Standing.js"
import type { Forbidden } from "../platform/Errors.js"
import type { CurrentActor } from "../access/actors/Actor.js"

/** How clients write their configuration of SSH. */
export interface SshSettings {
  readonly hostname_prefix: string
  readonly hostname_suffix: string
  readonly ssh_config_options: Readonly<Record<string, string>>
}

/** The methods of {@link General}. */
export interface GeneralService {
  /** The options in force without their secrets. Fails with `Forbidden` unless the actor may read them. deployment.md §2.1. */
  readonly configuration: Effect.Effect<
    { readonly config: Readonly<Record<string, unknown>>; readonly options: ReadonlyArray<Descriptor> },
    Forbidden,
    CurrentActor
  >

  /** What clients write into their SSH configuration. deployment.md §1.5. */
  readonly ssh: SshSettings

  readonly experiments: ReadonlyArray<string>
}

const make = Effect.gen(function* () {
  const configuration = yield* DeploymentConfiguration
  const { experiments, sshConfigOptions, sshHostnamePrefix, workspaceHostnameSuffix } = yield* DeploymentOptions
  let kept: ReturnType<typeof report> | undefined
  // Made with its first reader, as a start has none
  const reported = () => (kept ??= report(configuration))
  return {
    configuration: Effect.map(Access.authorize("read", AccessObjects.bare("deployment_config")), reported),
    ssh: {
      hostname_prefix: sshHostnamePrefix,
      hostname_suffix: workspaceHostnameSuffix,
      // Options that cannot be have stopped the start
      ssh_config_options: Either.getOrElse(sshOptions(sshConfigOptions), () => ({}))
    },
    experiments
  }
})

/** What a deployment tells of its options. */
export class General extends Context.Tag("@atelier/core/General")<General, GeneralService>() {
  static readonly layer = service(General, make)
}
