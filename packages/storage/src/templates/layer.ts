/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/templates"
import { Layer } from "effect"
import { layer as templates } from "./TemplateRepository.js"
import { layer as ownerMetadata } from "./parameters/OwnerMetadataRepository.js"
import { layer as templateVersions } from "./versions/TemplateVersionRepository.js"
import templatesMigration from "./migrations/0030_templates.js"
import prebuilds from "./migrations/0301_prebuilds.js"
import versionEngines from "./migrations/0590_version_engines.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(ownerMetadata, templates, templateVersions) satisfies Layer.Layer<Stored, never, Statements>

export const migrations = { "0030_templates": templatesMigration, "0301_prebuilds": prebuilds, "0590_version_engines": versionEngines }
