/** The engines of the server's own daemons. */
import type { EngineLayer } from "@atelier/http"
import { LocalProvisioner } from "@atelier/provisioner"
import { KubernetesProvisioner } from "@atelier/provisioner-kubernetes"
import { DockerProvisioner } from "@atelier/provisioner-docker"
import { TerraformProvisioner } from "@atelier/provisioner-terraform"
import type { EngineName, Options } from "./Options.js"

/** What Terraform may be given of the environment: not the options of this program, which may be secret. */
const withoutOptions = (environment: NodeJS.ProcessEnv, { brand, compatibility }: Options) => {
  const words = ["ATELIER", brand ?? compatibility ?? []].flat().map((word) => `${word.toUpperCase()}_`)
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !words.some((word) => name.replace(/^HOMEBREW_/, "").startsWith(word)))
  )
}

const engines: Readonly<Record<EngineName, (options: Options, agentProgram: string) => EngineLayer>> = {
  local: ({ workspacesDirectory }, agentProgram) =>
    LocalProvisioner.layer({ directory: workspacesDirectory, agent: { command: [process.execPath, agentProgram] } }),
  kubernetes: ({ kubernetes, kubernetesOptionsFile }) => KubernetesProvisioner.layerWithFile(kubernetesOptionsFile, kubernetes),
  docker: ({ docker }) => DockerProvisioner.layer(docker),
  terraform: (options) =>
    TerraformProvisioner.layer({
      binary: options.terraformBinary,
      directory: options.terraformDirectory,
      environment: TerraformProvisioner.variablesNamed(options.terraformEnvironment, withoutOptions(process.env, options)),
      importTimeout: options.terraformImportTimeout,
      planTimeout: options.terraformPlanTimeout,
      applyTimeout: options.terraformApplyTimeout,
      limits: options.terraformLimits,
      controlGroup: options.terraformControlGroup,
      user: options.terraformUser,
      container: TerraformProvisioner.containerOptions(
        options.terraformDockerImage,
        options.terraformDockerHost,
        options.terraformDockerNetwork
      )
    })
}

/** The engines that the options name, in their order. */
export const enginesOf = (options: Options, agentProgram: string): ReadonlyArray<EngineLayer> =>
  options.engines.map((name) => engines[name](options, agentProgram))
