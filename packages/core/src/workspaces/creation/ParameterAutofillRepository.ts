import { Context, type Effect } from "effect"
import type { UserId } from "../../identity/users/User.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"

export class ParameterAutofillRepository extends Context.Tag("@atelier/core/ParameterAutofillRepository")<
  ParameterAutofillRepository,
  {
    /**
     * The newest value of each parameter among the last 1,000 starts of the user's workspaces of a template, deleted ones too; without
     * those that were ephemeral in the version that was started. At most 100, of newer builds first, then by name.
     */
    readonly latestValues: (userId: UserId, templateId: Uuid) => Effect.Effect<ReadonlyArray<ParameterValue>>
  }
>() {}
