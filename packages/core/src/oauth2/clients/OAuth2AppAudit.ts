/** Clients of the authorization server as audit entries show them. notifications-audit-insights.md §B3. */
import { audited, auditedResource, ignored, secret } from "../../audit/AuditedResource.js"
import { callbackUrl, type DescriptiveMetadata, type OAuth2App } from "./OAuth2App.js"

/** A client with its metadata as fields of its own. */
export interface AuditedApp extends Omit<OAuth2App, "metadata">, DescriptiveMetadata {
  readonly callback_url: string
  readonly registration_access_token?: string
}

export const auditedApp = ({ metadata, ...app }: OAuth2App): AuditedApp => ({ ...metadata, ...app, callback_url: callbackUrl(app) })

export const appAudit = auditedResource<AuditedApp>({
  type: "oauth2_provider_app",
  // Tokens of every user may end with an app or its secret
  endsRightsOf: "everyone",
  fields: {
    id: ignored,
    created_at: ignored,
    updated_at: ignored,
    name: audited,
    icon: audited,
    callback_url: audited,
    redirect_uris: audited,
    client_type: audited,
    dynamically_registered: audited,
    token_endpoint_auth_method: audited,
    grant_types: audited,
    response_types: audited,
    client_id: audited,
    scope: audited,
    contacts: audited,
    client_uri: audited,
    logo_uri: audited,
    tos_uri: audited,
    policy_uri: audited,
    jwks_uri: audited,
    jwks: secret,
    software_id: audited,
    software_version: audited,
    require_pushed_authorization_requests: ignored,
    dpop_bound_access_tokens: ignored,
    last_used_at: ignored,
    registration_access_token: secret
  }
})
