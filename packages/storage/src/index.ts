import type { Stored } from "@atelier/core"
import type { EventBus, Locks } from "@atelier/core/platform"
import { Layer } from "effect"
import { layer as agents } from "./agents/layer.js"
import { layer as ai } from "./ai/layer.js"
import { layer as audit } from "./audit/layer.js"
import { layer as deployment } from "./deployment/layer.js"
import { layer as externalAuth } from "./externalAuth/layer.js"
import { layer as groups } from "./groups/layer.js"
import { layer as identity } from "./identity/layer.js"
import { layer as insights } from "./insights/layer.js"
import { layer as logs } from "./logs/layer.js"
import { layer as network } from "./network/layer.js"
import { layer as notifications } from "./notifications/layer.js"
import { layer as oauth2 } from "./oauth2/layer.js"
import { layer as organizations } from "./organizations/layer.js"
import { layer as platform } from "./platform/layer.js"
import { layer as provisioning } from "./provisioning/layer.js"
import { layer as retention } from "./retention/layer.js"
import { layer as tasks } from "./tasks/layer.js"
import { layer as templates } from "./templates/layer.js"
import { layer as workspaces } from "./workspaces/layer.js"
import { layer as migrations } from "./Migrations.js"
import { stacked, together } from "@atelier/core/platform"
import type { Statements } from "./platform/Statements.js"

const repositories = together(
  agents,
  ai,
  audit,
  deployment,
  externalAuth,
  groups,
  identity,
  insights,
  logs,
  network,
  notifications,
  oauth2,
  organizations,
  platform,
  provisioning,
  retention,
  tasks,
  templates,
  workspaces
)

/**
 * The part of storage that needs only SQL: every repository port and the transactor, on a client whose schema is migrated first. A port
 * that no area implements is a type error here, which names it.
 */
export const layer = stacked(migrations, repositories) satisfies Layer.Layer<Exclude<Stored, EventBus | Locks>, never, Statements>

/** For copies of a store: the schema of a migration, the record of those that were applied, and the last one. */
export { latest as latestMigration, migrateTo, table as migrationsTable, versionOf } from "./Migrations.js"
export { encryptionKeyIds } from "./deployment/cryptoKeys/EncryptionKeyIds.js"
export { plannedAnew } from "./platform/Contains.js"
export { sharedWrite, withItem } from "./platform/Statement.js"
export { unavailabilityOf } from "./platform/Unavailability.js"
export {
  type Allowed,
  clientStatements,
  makeStatements,
  transactionOf,
  type Query,
  type Rows,
  Statements,
  type Store
} from "./platform/Statements.js"

/** The services that `layer` provides. */
export type Repositories = Layer.Layer.Success<typeof layer>
