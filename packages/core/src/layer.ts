/**
 * Every area's wiring, put together. An area lists its services, workers and repository ports in its own `layer.ts`. Each service brings the
 * services it stands on, and a layer is built once however many bring it, so the areas' order has no meaning here. What an area implements of
 * another's ports comes from its `adapters`.
 */
import { Layer } from "effect"
import * as access from "./access/layer.js"
import * as agents from "./agents/layer.js"
import * as ai from "./ai/layer.js"
import * as audit from "./audit/layer.js"
import * as deployment from "./deployment/layer.js"
import * as externalAuth from "./externalAuth/layer.js"
import * as groups from "./groups/layer.js"
import type { PasswordHasher } from "./identity/passwords/PasswordHasher.js"
import type { SshKeyGenerator } from "./identity/secrets/GitSshKey.js"
import type { SecretsYaml } from "./identity/secrets/SecretsFile.js"
import * as identity from "./identity/layer.js"
import * as insights from "./insights/layer.js"
import * as logs from "./logs/layer.js"
import * as network from "./network/layer.js"
import * as notifications from "./notifications/layer.js"
import type { Mailer } from "./notifications/Mailer.js"
import * as oauth2 from "./oauth2/layer.js"
import * as organizations from "./organizations/layer.js"
import type { Cryptography } from "./platform/secrets/Cryptography.js"
import type { Encryption } from "./platform/secrets/Encryption.js"
import * as platform from "./platform/layer.js"
import type { StartError } from "./platform/wiring/StartError.js"
import type { Archives } from "./provisioning/files/Archives.js"
import * as provisioning from "./provisioning/layer.js"
import type { ProvisionerEngines } from "./provisioning/engines/ProvisionerEngine.js"
import * as retention from "./retention/layer.js"
import * as sandboxes from "./sandboxes/layer.js"
import * as tasks from "./tasks/layer.js"
import type { TaskApps } from "./tasks/TaskApps.js"
import * as templates from "./templates/layer.js"
import * as workspaces from "./workspaces/layer.js"
import { stacked, together } from "./platform/wiring/Standing.js"

/** The ports that a store implements: every area's repositories, and what transactions, locks and events need. */
export type Stored =
  | access.Stored
  | agents.Stored
  | ai.Stored
  | audit.Stored
  | deployment.Stored
  | externalAuth.Stored
  | groups.Stored
  | identity.Stored
  | insights.Stored
  | logs.Stored
  | network.Stored
  | notifications.Stored
  | oauth2.Stored
  | organizations.Stored
  | platform.Stored
  | provisioning.Stored
  | retention.Stored
  | sandboxes.Stored
  | tasks.Stored
  | templates.Stored
  | workspaces.Stored

/** The ports that the process implements: its platform, its mailer and its engines. */
export type Hosted =
  | Archives
  | Cryptography
  | Encryption
  | Mailer
  | PasswordHasher
  | ProvisionerEngines
  | SecretsYaml
  | SshKeyGenerator
  | TaskApps

const adapters = together(templates.adapters, workspaces.adapters)

const areas = together(
  access.layer,
  agents.layer,
  ai.layer,
  audit.layer,
  deployment.layer,
  externalAuth.layer,
  groups.layer,
  identity.layer,
  insights.layer,
  logs.layer,
  network.layer,
  notifications.layer,
  oauth2.layer,
  organizations.layer,
  provisioning.layer,
  retention.layer,
  sandboxes.layer,
  tasks.layer,
  templates.layer,
  workspaces.layer
)

/** The services of every area. */
export const layer = stacked(platform.layer, adapters, areas)

/** What embedding code may use without HTTP: each area's services, called with an actor provided. */
export type Services = Layer.Layer.Success<typeof layer>

// Names the port or service that is missing where one is: nothing else may be left for a host to provide
layer satisfies Layer.Layer<Services, StartError, Stored | Hosted>

/** The background work of every area: effects that start one worker each, in their scope. */
export const workers = [
  ...access.workers,
  ...agents.workers,
  ...ai.workers,
  ...audit.workers,
  ...deployment.workers,
  ...externalAuth.workers,
  ...groups.workers,
  ...identity.workers,
  ...insights.workers,
  ...logs.workers,
  ...network.workers,
  ...notifications.workers,
  ...oauth2.workers,
  ...organizations.workers,
  ...platform.workers,
  ...provisioning.workers,
  ...retention.workers,
  ...sandboxes.workers,
  ...tasks.workers,
  ...templates.workers,
  ...workspaces.workers
]
