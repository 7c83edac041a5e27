/** Providers of language models as audit entries show them. notifications-audit-insights.md §B3. */
import { audited, auditedResource, ignored, secret, shown } from "../audit/AuditedResource.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { type AiProviderKey, maskedKey } from "./AiProvider.js"
import type { AiProvider } from "./AiProviders.js"
import { encode } from "./ProviderSealing.js"

/** A provider with its settings as one text. Its keys have entries of their own. */
interface AuditedProvider extends Omit<AiProvider, "settings"> {
  readonly settings: string
}

export const auditedProvider = ({ settings, ...fields }: AiProvider): AuditedProvider => ({
  ...fields,
  settings: settings === null ? "" : encode({ keys: [], settings })
})

export const providerAudit = auditedResource<AuditedProvider>({
  type: "ai_provider",
  endsRightsOf: "none",
  fields: {
    id: audited,
    type: audited,
    name: audited,
    display_name: audited,
    icon: audited,
    enabled: audited,
    base_url: audited,
    created_at: ignored,
    updated_at: ignored,
    keys: ignored,
    settings: secret
  }
})

export const providerKeyAudit = auditedResource<AiProviderKey & { readonly provider_id: Uuid }>({
  type: "ai_provider_key",
  endsRightsOf: "none",
  fields: { id: audited, provider_id: audited, created_at: ignored, api_key: shown(maskedKey) }
})
