/** Workspace proxies as audit entries show them. notifications-audit-insights.md §B3. */
import { audited, auditedResource, auditedTime, byteSecret, ignored } from "../../audit/AuditedResource.js"
import type { WorkspaceProxy } from "./WorkspaceProxy.js"

export const proxyAudit = auditedResource<WorkspaceProxy & { readonly token_hashed_secret: string | Uint8Array }>({
  type: "workspace_proxy",
  // Proxies end by themselves: their streams are told
  endsRightsOf: "none",
  fields: {
    id: audited,
    name: audited,
    display_name: audited,
    icon: audited,
    url: audited,
    wildcard_hostname: audited,
    created_at: auditedTime,
    updated_at: ignored,
    deleted: ignored,
    derp_enabled: audited,
    derp_only: audited,
    region_id: audited,
    version: audited,
    token_hashed_secret: byteSecret
  }
})
