/**
 * The whole interface as a value: every endpoint's path, inputs, outputs and errors. Server, typed client and interface description
 * are made from it. Nothing here may need Node.
 *
 * A group of endpoints is a file, which its area lists in `areas/`:
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
 * `npm run generate` then gives both clients the operation. Paths are written in full. `annotations.ts` has what else an endpoint may say
 * (limiters, trailing slash), `dialect.ts` the values that have two forms. `Invalid`, `TooLarge`, `RequestTimeout`, `TooManyRequests`,
 * `InternalError`, `Unavailable` and `StorageFull` need no declaration.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import { commonRefusals } from "../wire/errors.js"
import { area as access } from "./areas/access.js"
import { area as agents } from "./areas/agents.js"
import { area as audit } from "./areas/audit.js"
import { area as deployment } from "./areas/deployment.js"
import { area as groups } from "./areas/groups.js"
import { area as identity } from "./areas/identity.js"
import { area as insights } from "./areas/insights.js"
import { area as network } from "./areas/network.js"
import { area as notifications } from "./areas/notifications.js"
import { area as oauth2 } from "./areas/oauth2.js"
import { area as organizations } from "./areas/organizations.js"
import { area as provisioning } from "./areas/provisioning.js"
import { area as tasks } from "./areas/tasks.js"
import { area as templates } from "./areas/templates.js"
import { area as workspaces } from "./areas/workspaces.js"

export class Contract extends HttpApi.make("atelier")
  .addHttpApi(access)
  .addHttpApi(agents)
  .addHttpApi(audit)
  .addHttpApi(deployment)
  .addHttpApi(groups)
  .addHttpApi(identity)
  .addHttpApi(insights)
  .addHttpApi(network)
  .addHttpApi(notifications)
  .addHttpApi(oauth2)
  .addHttpApi(organizations)
  .addHttpApi(provisioning)
  .addHttpApi(tasks)
  .addHttpApi(templates)
  .addHttpApi(workspaces)
  .addError(commonRefusals) {}
