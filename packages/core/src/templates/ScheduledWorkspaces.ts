import { Context, type Effect } from "effect"
import type { EventBus } from "../platform/EventBus.js"
import type { Template } from "./Template.js"

/** Port: what a template's changed schedule means for its workspaces, which a later area knows. */
export class ScheduledWorkspaces extends Context.Tag("@atelier/core/ScheduledWorkspaces")<
  ScheduledWorkspaces,
  {
    /**
     * Recomputes the deadlines of running builds, and the next starts if the allowed days changed. Runs in the transaction that
     * changes the template. workspaces.md §5.2.
     */
    readonly scheduleChanged: (before: Template, after: Template) => Effect.Effect<void, never, EventBus>
  }
>() {}
