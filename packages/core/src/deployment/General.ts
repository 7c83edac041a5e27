import { Context, Effect, Either } from "effect"
import { Access, AccessObjects } from "../access/index.js"
import { DeploymentConfiguration } from "./options/DeploymentConfiguration.js"
import { DeploymentOptions } from "./options/DeploymentOptions.js"
import { report } from "./options/report.js"
import { sshOptions } from "./options/sshSettings.js"
import { service } from "../platform/wiring/Standing.js"

const make = Effect.gen(function* () {
  const configuration = yield* DeploymentConfiguration
  const { experiments, sshConfigOptions, sshHostnamePrefix, workspaceHostnameSuffix } = yield* DeploymentOptions
  return {
    /** The options in force without their secrets. Fails with `Forbidden` unless the actor may read them. deployment.md §2.1. */
    configuration: Effect.as(Access.authorize("read", AccessObjects.bare("deployment_config")), report(configuration)),
    /** What clients write into their SSH configuration. deployment.md §1.5. */
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
export class General extends Context.Tag("@atelier/core/General")<General, Effect.Effect.Success<typeof make>>() {
  static readonly layer = service(General, make)
}
