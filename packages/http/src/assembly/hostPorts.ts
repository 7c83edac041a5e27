/** The ports of core that a host gives itself, or that its options name. */
import { type Options as InForce, TrialIssuer } from "@atelier/core/deployment"
import { type Dispatcher, Mailer } from "@atelier/core/notifications"
import { StartError, together } from "@atelier/core/platform"
import type { WorkspaceAdmission } from "@atelier/core/workspaces"
import { SmtpMailer, WebhookDispatcher } from "@atelier/node"
import { Effect, Layer } from "effect"
import type { Options } from "../Options.js"
import { HostSessions } from "../server/credentials/HostSessions.js"
import type { HttpSettings } from "../server/request/Settings.js"
import { licenseAuthority } from "./licenseAuthority.js"

/** The host's dispatchers, and a webhook where the options name one. */
export const dispatchersOf = (
  { dispatchers = [] }: Options,
  { notificationsWebhookEndpoint: endpoint }: InForce
): ReadonlyArray<Dispatcher> =>
  endpoint === "" || dispatchers.some(({ method }) => method === "webhook")
    ? dispatchers
    : [...dispatchers, WebhookDispatcher.make({ endpoint })]

export const mailerOf = (options: InForce): Layer.Layer<Mailer> => {
  const email = SmtpMailer.fromOptions(options)
  return email === undefined ? Mailer.layerNone : SmtpMailer.layer(email)
}

export const hostSessionsOf = ({ authenticate, loginProviders = [] }: Options, settings: HttpSettings, { oidcClientId }: InForce) => {
  if (authenticate === undefined) return together()
  if (oidcClientId !== "" || loginProviders.some(({ type }) => type === "oidc")) {
    throw new StartError({
      option: "authenticate",
      reason: "cannot be set together with an OpenID Connect provider: the host is the only provider of its users"
    })
  }
  return HostSessions.layer(authenticate, settings)
}

export const trialIssuerOf = ({ trialIssuer }: Options): TrialIssuer["Type"] =>
  trialIssuer === undefined ? undefined : (request) => Effect.tryPromise((signal) => trialIssuer(request, signal))

export const admissionOf = ({ admitWorkspace }: Options): WorkspaceAdmission["Type"] =>
  admitWorkspace === undefined ? undefined : (workspace) => Effect.tryPromise(async (signal) => admitWorkspace(workspace, signal))

/** The keys that verify licenses; undefined where the host decides what is granted. */
export const authorityOf = ({ entitlements }: Options, { licenseKeys }: InForce) => {
  if (licenseKeys.length === 0) return undefined
  if (entitlements === undefined) return licenseAuthority(licenseKeys)
  throw new StartError({ option: "entitlements", reason: "cannot be set together with licenseKeys: licenses say what is granted" })
}
