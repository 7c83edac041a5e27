import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type { Contract } from "../contract/Contract.js"
import type * as HttpApplication from "../server/pipeline/HttpApplication.js"
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

/** Where the groups of endpoints of every area are implemented. */
export const implementations = {
  ...access,
  ...agents,
  ...ai,
  ...audit,
  ...deployment,
  ...externalAuth,
  ...groups,
  ...identity,
  ...insights,
  ...network,
  ...notifications,
  ...oauth2,
  ...organizations,
  ...provisioning,
  ...sandboxes,
  ...tasks,
  ...templates,
  ...workspaces
} satisfies HttpApplication.Implementations<GroupOf<typeof Contract>>

/** The names of an API's groups. */
type GroupOf<Api> =
  Api extends HttpApi.HttpApi<infer _Id, infer Groups, infer _E, infer _R> ? HttpApiGroup.HttpApiGroup.Name<Groups> : never
