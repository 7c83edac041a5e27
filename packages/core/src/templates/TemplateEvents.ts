/** Events of templates. */
import { Schema } from "effect"
import { type Channel, channelsOf } from "../platform/events/EventBus.js"
import type { Uuid } from "../platform/texts/Uuid.js"

/** The template's workspaces are made from another version from now on. templates-and-provisioning.md §3.5. */
export const activeVersionChanges: (templateId: Uuid) => Channel<{}> = channelsOf("template", Schema.Struct({}))
