import { Context } from "effect"
import { Uuid } from "../../platform/index.js"
import { defaultConfiguration } from "./DeploymentConfiguration.js"
import { type Configuration, inForce, type OptionsInForce } from "./Configuration.js"
import { withoutTrailingSlashes } from "../../platform/texts/Address.js"

/** How git's SSH key pairs are made. identity.md §8.7. */
export type SshKeyAlgorithm = "ed25519" | "ecdsa" | "rsa4096"

/**
 * The options of a deployment by the names that `docs/options.md` lists, without hyphens: `--session-duration` is `sessionDuration`.
 * deployment.md §2, §3.
 */
export interface Options extends Omit<OptionsInForce, "sshKeygenAlgorithm" | "oidcOrganizationMapping"> {
  /** The product's word, where stored data names the service itself. */
  readonly brand: string
  readonly sshKeygenAlgorithm: SshKeyAlgorithm
  /** Ids of organizations by value of the claim. */
  readonly oidcOrganizationMapping: Readonly<Record<string, ReadonlyArray<Uuid.Uuid>>>
}

/** The experiments that are safe to switch on together. This one's feature, the default roles of members, is always on here. */
export const safeExperiments: ReadonlyArray<string> = ["minimum-implicit-member"]

/** Experiments by their names in lower case; `*` stands for all that are safe. Unknown ones stay. deployment.md §1.7. */
const experimentsOf = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.flatMap((name) => (name === "*" ? safeExperiments : [name.toLowerCase()]))

const keyAlgorithm = (text: string): SshKeyAlgorithm => {
  const lower = text.toLowerCase()
  return lower === "ecdsa" || lower === "rsa4096" ? lower : "ed25519"
}

/** Returns the options that a configuration sets, in the form in which services read them. */
export const optionsOf = (configuration: Configuration): Options => {
  const options = inForce(configuration)
  return {
    ...options,
    brand: configuration.brand,
    accessUrl: withoutTrailingSlashes(options.accessUrl) || "http://127.0.0.1:3000",
    defaultOrganizationName: options.defaultOrganizationName || "default",
    experiments: experimentsOf(options.experiments),
    provisionerDaemons: Math.max(0, options.provisionerDaemons),
    sshKeygenAlgorithm: keyAlgorithm(options.sshKeygenAlgorithm),
    oidcOrganizationMapping: Object.fromEntries(
      Object.entries(options.oidcOrganizationMapping).map(([value, ids]) => [value, ids.flatMap((id) => Uuid.parse(id) ?? [])])
    )
  }
}

/** The options in force. */
export class DeploymentOptions extends Context.Reference<DeploymentOptions>()("@atelier/core/DeploymentOptions", {
  defaultValue: (): Options => optionsOf(defaultConfiguration())
}) {}
