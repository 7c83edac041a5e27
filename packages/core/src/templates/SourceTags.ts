import { Context, Duration, Effect, Either, Layer, Option } from "effect"
import { CurrentActor } from "../access/Actor.js"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import { nil, type Uuid } from "../platform/Uuid.js"
import type { File } from "../provisioning/File.js"
import type { ProvisionerTags } from "../provisioning/ProvisionerTags.js"
import type { UserVariableValue } from "../provisioning/SourceDefinitions.js"
import { TemplateSources } from "../provisioning/TemplateSources.js"
import { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { resolveVariables } from "./Variables.js"
import { standingOn } from "../platform/Standing.js"

/** How long a request waits for what a source says of its tags. */
const timeout = Duration.seconds(5)

const make = Effect.gen(function* () {
  const sources = yield* TemplateSources
  const versions = yield* TemplateVersionRepository

  const evaluate = (file: File, given: ReadonlyArray<UserVariableValue>, templateId: Uuid | undefined) =>
    Effect.gen(function* () {
      const session = yield* sources.open(file.id, () => Effect.void)
      const parsed = yield* session.parse
      if (Object.keys(parsed.workspace_tags).length === 0 || session.workspaceTags === undefined) return parsed.workspace_tags
      const active = templateId === undefined ? [] : yield* versions.activeVariables(templateId)
      const variables = Either.getOrElse(resolveVariables(parsed.variables, given, active), () => [])
      const { userId, username = "default" } = yield* CurrentActor
      const { accessUrl } = yield* DeploymentOptions
      return yield* session.workspaceTags({
        metadata: {
          access_url: accessUrl,
          transition: "start",
          workspace_id: nil,
          workspace_name: "default",
          workspace_build_id: nil,
          owner_id: userId,
          owner_username: username,
          owner_name: username,
          owner_email: "",
          owner_login_type: "",
          owner_groups: ["Everyone"],
          owner_ssh_public_key: "",
          template_id: templateId ?? nil,
          template_name: "",
          template_version: ""
        },
        variables,
        parameters: []
      })
    }).pipe(Effect.scoped)

  return {
    /**
     * The tags that a source gives its jobs, with the given variables, no parameters and the actor as the owner. None where no engine of
     * this process understands the source, or where it is broken: its import then says why. templates-and-provisioning.md §3.2.
     */
    evaluate: Effect.fn("SourceTags.evaluate")(function* (
      file: File,
      given: ReadonlyArray<UserVariableValue>,
      templateId: Uuid | undefined
    ) {
      const none: ProvisionerTags = {}
      return yield* evaluate(file, given, templateId).pipe(
        Effect.timeoutOption(timeout),
        Effect.map(Option.getOrElse(() => none)),
        // Its import says what is wrong, to more people and for longer
        Effect.catchAllCause((cause) => Effect.as(Effect.logDebug("a source's tags could not be evaluated", cause), none))
      )
    })
  }
})

/** The tags in a template's source, before its import. */
export class SourceTags extends Context.Tag("@atelier/core/SourceTags")<SourceTags, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(SourceTags, make), TemplateSources.layer)
}
