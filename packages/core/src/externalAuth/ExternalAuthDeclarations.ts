/** Port: the providers that templates declare, which a later area knows. templates-and-provisioning.md §3.4. */
import { Context, type Effect } from "effect"
import type { Uuid } from "../platform/texts/Uuid.js"

/** A provider that a version of a template names. */
export interface ExternalAuthDeclaration {
  /** The id of a provider, which may not be configured. */
  readonly id: string
  /** Whether a workspace may be created without it. */
  readonly optional: boolean
}

export class ExternalAuthDeclarations extends Context.Tag("@atelier/core/ExternalAuthDeclarations")<
  ExternalAuthDeclarations,
  {
    /** The declarations of a version of a template, by the provider's id. */
    readonly ofVersion: (versionId: Uuid) => Effect.Effect<ReadonlyArray<ExternalAuthDeclaration>>
  }
>() {}
