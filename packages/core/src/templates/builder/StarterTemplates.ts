import { Context, type Effect } from "effect"

/** A template that authors can start from. templates-and-provisioning.md §2.4. */
export interface StarterTemplate {
  /** The value of `example_id`. */
  readonly id: string
  /** Where people read about it; the deployment's list of starter templates unless given. */
  readonly url?: string
  readonly name: string
  readonly description: string
  readonly icon: string
  readonly tags: ReadonlyArray<string>
  /** The readme. */
  readonly markdown: string
  /** Its source. */
  readonly tar: Effect.Effect<Uint8Array>
}

/** The starter templates of this server; none unless the host has some. */
export class StarterTemplates extends Context.Reference<StarterTemplates>()("@atelier/core/StarterTemplates", {
  defaultValue: (): ReadonlyArray<StarterTemplate> => []
}) {}
