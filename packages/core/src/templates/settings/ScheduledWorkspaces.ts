import { Context, type Effect } from "effect"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { Template, TemplateId } from "../Template.js"

/** Port: what a template's change means for its workspaces, which a later area knows. */
export class ScheduledWorkspaces extends Context.Tag("@atelier/core/ScheduledWorkspaces")<
  ScheduledWorkspaces,
  {
    /**
     * Recomputes the deadlines of running builds, and the next starts if the allowed days changed. Tells owners of dormant workspaces
     * that will be deleted at another time. Runs in the transaction that changes the template. workspaces.md §5.2.
     */
    readonly scheduleChanged: (before: Template, after: Template) => Effect.Effect<void, never, EventBus>
    /** The owners of the template's workspaces, each once. */
    readonly ownersOf: (templateId: TemplateId) => Effect.Effect<ReadonlyArray<Uuid>>
  }
>() {}
