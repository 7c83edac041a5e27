/**
 * The whole interface as a value: every endpoint's path, inputs, outputs and errors. Server, typed client and interface description
 * are made from it. Nothing here may need Node.
 *
 * A group of endpoints is a file, which its area lists in its `area.ts`:
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
import { area as access } from "./access/area.js"
import { area as agents } from "./agents/area.js"
import { area as ai } from "./ai/area.js"
import { area as audit } from "./audit/area.js"
import { area as deployment } from "./deployment/area.js"
import { area as externalAuth } from "./externalAuth/area.js"
import { area as groups } from "./groups/area.js"
import { area as identity } from "./identity/area.js"
import { area as insights } from "./insights/area.js"
import { area as network } from "./network/area.js"
import { area as notifications } from "./notifications/area.js"
import { area as oauth2 } from "./oauth2/area.js"
import { area as organizations } from "./organizations/area.js"
import { area as provisioning } from "./provisioning/area.js"
import { area as sandboxes } from "./sandboxes/area.js"
import { area as tasks } from "./tasks/area.js"
import { area as templates } from "./templates/area.js"
import { area as workspaces } from "./workspaces/area.js"

export class Contract extends HttpApi.make("atelier")
  .addHttpApi(access)
  .addHttpApi(agents)
  .addHttpApi(ai)
  .addHttpApi(audit)
  .addHttpApi(deployment)
  .addHttpApi(externalAuth)
  .addHttpApi(groups)
  .addHttpApi(identity)
  .addHttpApi(insights)
  .addHttpApi(network)
  .addHttpApi(notifications)
  .addHttpApi(oauth2)
  .addHttpApi(organizations)
  .addHttpApi(provisioning)
  .addHttpApi(sandboxes)
  .addHttpApi(tasks)
  .addHttpApi(templates)
  .addHttpApi(workspaces)
  .addError(commonRefusals) {}
