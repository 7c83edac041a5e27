import { type Configuration, isSet, type Options as InForce } from "@atelier/core/deployment"
import { Name, StartError } from "@atelier/core/platform"
import type { Options } from "../Options.js"
import type { HttpSettings } from "../server/request/Settings.js"
import { presentationFor } from "../wire/Compatibility.js"

/** Throws `StartError` for a name that no organization can have. */
const organizationName = ({ defaultOrganizationName: name }: InForce): string => {
  const violation = Name.violation(name)
  if (violation === undefined) return name
  throw new StartError({ option: "options.defaultOrganizationName", value: name, reason: violation })
}

/** The options of the deployment: those that its configuration leaves out follow from the host's `compatibility`. Throws `StartError`. */
export const optionsInForce = (
  { compatibility, worker }: Pick<Options, "compatibility" | "worker">,
  read: InForce,
  configuration: Configuration,
  settings: Pick<HttpSettings, "accessUrl" | "names">
) => {
  const presentation = presentationFor(compatibility)
  return {
    ...read,
    accessUrl: settings.accessUrl,
    brand: settings.names.word,
    defaultOrganizationName: isSet(configuration, "default-organization-name") ? organizationName(read) : presentation.organizationName,
    // A directory of workspaces has one owner: of several workers, the first one runs builds
    provisionerDaemons: worker === undefined || worker.number === 1 ? read.provisionerDaemons : 0,
    narrowOauth2Scopes: isSet(configuration, "narrow-oauth2-scopes") ? read.narrowOauth2Scopes : presentation.narrowsScopes,
    agentFallbackTroubleshootingUrl: read.agentFallbackTroubleshootingUrl || presentation.troubleshootingUrl
  }
}
