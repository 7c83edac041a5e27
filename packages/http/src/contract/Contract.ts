/**
 * The whole interface as a value: every endpoint's path, inputs, outputs and errors. Server, typed client and interface description
 * are made from it. Nothing here may need Node.
 *
 * An area is one group in a file of its name, added below:
 *
 * ```ts
 * export const groups = HttpApiGroup.make("groups")
 *   .add(
 *     HttpApiEndpoint.get("getGroup", "/api/v2/groups/:group")
 *       .setPath(Path({ group: Uuid.Uuid }))
 *       .setUrlParams(Query({ exclude_members: flagParameter }))
 *       .addSuccess(Group)
 *       .addError(refusals("NotFound"))
 *   )
 *   .add(
 *     HttpApiEndpoint.post("createGroup", "/api/v2/organizations/:organization/groups")
 *       .setPath(Path({ organization: Schema.String }))
 *       .setPayload(Body({ name: required(Schema.String), display_name: text }))
 *       .addSuccess(Group, { status: 201 })
 *       .addError(refusals("NotFound", "Forbidden", "Conflict"))
 *   )
 *   .middlewareEndpoints(Authenticated)
 * ```
 *
 * Paths are written in full. `annotations.ts` has what else an endpoint may say (limiters, trailing slash), `dialect.ts` the values
 * that have two forms. `Invalid`, `TooLarge`, `RequestTimeout`, `TooManyRequests`, `InternalError`, `Unavailable` and `StorageFull` need no declaration.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import { refusals } from "../errors.js"
import { access } from "./access.js"
import { agents, ownAgent } from "./agents.js"
import { aiSpendExport, groupAiBudgets, organizationAiSpend, userAiBudgets } from "./aiBudgets.js"
import { autofill } from "./autofill.js"
import { deployment } from "./deployment.js"
import { externalLogins } from "./externalLogins.js"
import { gitSshKeys } from "./gitSshKeys.js"
import { groups, organizationGroups } from "./groups.js"
import { idpSync } from "./idpSync.js"
import { keys } from "./keys.js"
import { logins } from "./logins.js"
import { members } from "./members.js"
import { organizations } from "./organizations.js"
import { passcodes } from "./passcodes.js"
import { personalSettings } from "./personalSettings.js"
import { provisioning } from "./provisioning.js"
import { quietHours } from "./quietHours.js"
import { quotas } from "./quotas.js"
import { scimUsers } from "./scim.js"
import { templateSharing, workspaceSharing } from "./sharing.js"
import { templates } from "./templates.js"
import { templateVersions } from "./templateVersions.js"
import { users } from "./users.js"
import { userSecrets } from "./userSecrets.js"
import { builds, workspaces } from "./workspaces.js"

export class Contract extends HttpApi.make("atelier")
  .add(deployment)
  .add(access)
  .add(users)
  .add(keys)
  .add(logins)
  .add(externalLogins)
  .add(userSecrets)
  .add(gitSshKeys)
  .add(passcodes)
  .add(personalSettings)
  .add(quietHours)
  .add(organizations)
  .add(members)
  .add(groups)
  .add(organizationGroups)
  .add(groupAiBudgets)
  .add(userAiBudgets)
  .add(organizationAiSpend)
  .add(aiSpendExport)
  .add(idpSync)
  .add(scimUsers)
  .add(agents)
  .add(autofill)
  .add(ownAgent)
  .add(provisioning)
  .add(templates)
  .add(templateVersions)
  .add(templateSharing)
  .add(workspaces)
  .add(workspaceSharing)
  .add(quotas)
  .add(builds)
  .addError(refusals("Invalid", "TooLarge", "RequestTimeout", "TooManyRequests", "InternalError", "Unavailable", "StorageFull")) {}
