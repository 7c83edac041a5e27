import { Schema } from "effect"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { ProxyHealthStatus } from "./ProxyHealth.js"
import type { ObservedProxy } from "./WorkspaceProxies.js"

const Status = Schema.Struct({
  status: ProxyHealthStatus,
  report: Schema.Struct({ errors: Schema.Array(Schema.String), warnings: Schema.Array(Schema.String) }).annotations({
    identifier: "ProxyHealthReport"
  }),
  checked_at: Timestamp.Timestamp
}).annotations({ identifier: "WorkspaceProxyStatus" })

/** A proxy as administrators and the health report see it. */
export const WorkspaceProxyView = Schema.Struct({
  id: Uuid,
  name: Schema.String,
  display_name: Schema.String,
  icon_url: Schema.String,
  healthy: Schema.Boolean,
  path_app_url: Schema.String,
  wildcard_hostname: Schema.String,
  derp_enabled: Schema.Boolean,
  derp_only: Schema.Boolean,
  status: Status,
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp,
  deleted: Schema.Boolean,
  version: Schema.String
}).annotations({ identifier: "WorkspaceProxy" })
export interface WorkspaceProxyView extends Schema.Schema.Type<typeof WorkspaceProxyView> {}

export const proxyView = ({ icon, status, url, ...proxy }: ObservedProxy): WorkspaceProxyView => ({
  ...proxy,
  icon_url: icon,
  path_app_url: url,
  healthy: status.status === "ok",
  status
})
