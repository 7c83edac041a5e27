import { Context, type Effect, type Option } from "effect"
import type { Duplicate } from "../../platform/Errors.js"
import type { Page } from "../../platform/lists/Pagination.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ProvisionerTags } from "../../provisioning/queue/ProvisionerTags.js"
import type { ExternalAuthRequirement } from "../../provisioning/engines/SourceDefinitions.js"
import type { AuthoredVersion, TemplateVersion, TemplateVersionId } from "./TemplateVersion.js"
import type { TemplateVersionParameter, TemplateVersionPreset, TemplateVersionVariable } from "./TemplateVersionDefinitions.js"

export class TemplateVersionRepository extends Context.Tag("@atelier/core/TemplateVersionRepository")<
  TemplateVersionRepository,
  {
    readonly byId: (id: TemplateVersionId) => Effect.Effect<Option.Option<AuthoredVersion>>
    readonly byIds: (ids: ReadonlyArray<TemplateVersionId>) => Effect.Effect<ReadonlyArray<AuthoredVersion>>
    /** By its exact name. */
    readonly byName: (templateId: Uuid, name: string) => Effect.Effect<Option.Option<AuthoredVersion>>
    /** The version before this one in the order of `list`, archived or not. */
    readonly previous: (
      version: Pick<TemplateVersion, "id" | "template_id" | "created_at">
    ) => Effect.Effect<Option.Option<AuthoredVersion>>
    /** Oldest first. None when the page starts behind a version that does not exist. */
    readonly list: (templateId: Uuid, page: Page, includeArchived: boolean) => Effect.Effect<Option.Option<ReadonlyArray<AuthoredVersion>>>
    /** Fails with the index `template_versions_template_id_name`. */
    readonly insert: (version: TemplateVersion) => Effect.Effect<void, Duplicate>
    /** Writes the fields that are given. Fails with the index `template_versions_template_id_name`. */
    readonly describe: (
      id: TemplateVersionId,
      change: { readonly name?: string; readonly message?: string; readonly updated_at: Timestamp }
    ) => Effect.Effect<void, Duplicate>
    /** Makes a version without template and not archived part of one; false when it has one. Fails with the index `template_versions_template_id_name`. */
    readonly attach: (id: TemplateVersionId, templateId: Uuid, at: Timestamp) => Effect.Effect<boolean, Duplicate>
    /**
     * Archives versions of a template that are not archived yet: those whose import has ended, that are not the active one, and that no
     * workspace's latest build uses, unless that is a delete. Returns their ids.
     */
    readonly archive: (
      templateId: Uuid,
      which: { readonly id?: TemplateVersionId | undefined; readonly failedOnly: boolean },
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<TemplateVersionId>>
    /** Returns false if the version is not archived. */
    readonly unarchive: (id: TemplateVersionId, at: Timestamp) => Effect.Effect<boolean>
    /** Stores the result of parsing, in place of an earlier attempt's. */
    readonly storeParsed: (
      id: TemplateVersionId,
      parsed: {
        readonly readme: string
        readonly workspace_tags: ProvisionerTags
        readonly variables: ReadonlyArray<TemplateVersionVariable>
        readonly updated_at: Timestamp
      }
    ) => Effect.Effect<void>
    /** Stores the result of planning, in place of an earlier attempt's. */
    readonly storePlanned: (
      id: TemplateVersionId,
      planned: {
        readonly parameters: ReadonlyArray<TemplateVersionParameter>
        readonly presets: ReadonlyArray<TemplateVersionPreset>
        readonly has_ai_task: boolean
        readonly engine: string | null
        readonly has_external_agent: boolean
        readonly updated_at: Timestamp
      }
    ) => Effect.Effect<void>
    /** Stores the external providers that a version needs, in place of an earlier attempt's. */
    readonly storeExternalAuth: (id: TemplateVersionId, needed: ReadonlyArray<ExternalAuthRequirement>) => Effect.Effect<void>
    /** By the provider's id. */
    readonly externalAuth: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<ExternalAuthRequirement>>
    /** By `order`, then by name in lower case. */
    readonly parameters: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<TemplateVersionParameter>>
    /** With their values, in the order of the source. */
    readonly presets: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<TemplateVersionPreset>>
    readonly presetById: (id: Uuid) => Effect.Effect<Option.Option<TemplateVersionPreset>>
    /** By name. */
    readonly variables: (id: TemplateVersionId) => Effect.Effect<ReadonlyArray<TemplateVersionVariable>>
    /** The variables of the active version of a template. */
    readonly activeVariables: (templateId: Uuid) => Effect.Effect<ReadonlyArray<TemplateVersionVariable>>
  }
>() {}
