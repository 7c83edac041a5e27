import { Duration, Effect, Option } from "effect"
import { Invalid, TimedOut } from "../../platform/Errors.js"
import { nil } from "../../platform/texts/Uuid.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import type { TemplateSources } from "../../provisioning/engines/TemplateSources.js"
import type { ImportedVersion, ParameterForms } from "../../templates/parameters/ParameterForms.js"
import { matchingPreset } from "../../templates/parameters/Parameters.js"
import type { AuthoredVersion } from "../../templates/versions/TemplateVersion.js"
import type { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import type { BuildInputs } from "./BuildInputs.js"
import type { BuildReads } from "./BuildReads.js"
import type { BuildTarget, BuildOrder, PreparedBuild } from "./BuildOrders.js"

/** How long a request for a build waits for its tags. */
const tagsTime = Duration.seconds(15)

/** Without its tags, a build would go to a daemon that it is not meant for. */
const tookTooLong = new TimedOut({
  message: "The workspace's tags could not be evaluated in time. Try again.",
  detail: `The evaluation had not ended after ${Duration.format(tagsTime)}. The service is busy, or the template needs too long.`
})

interface Needs {
  readonly versions: TemplateVersionRepository["Type"]
  readonly forms: ParameterForms["Type"]
  readonly sources: TemplateSources["Type"]
  readonly inputs: BuildInputs["Type"]
}

/** What a build is made of: its version, its preset, its parameters and the tags of its daemon. */
export const buildDefinitions = ({ versions, forms, sources, inputs }: Needs) => {
  const versionOf = ({ previous, template }: BuildTarget, order: BuildOrder, reads: BuildReads) =>
    Effect.gen(function* () {
      const id = order.template_version_id ?? previous?.template_version_id ?? template.active_version_id
      const version = yield* reads.version(id)
      if (Option.isNone(version)) return yield* Invalid.field("template_version_id", "There is no template version with this id")
      if (version.value.template_id !== template.id) {
        return yield* Invalid.field("template_version_id", "The template version belongs to another template than the workspace")
      }
      return version.value
    })

  const presetOf = (version: AuthoredVersion, { previous }: BuildTarget, order: BuildOrder, reads: BuildReads) =>
    Effect.gen(function* () {
      const presets = yield* reads.presets(version.id)
      const { rich_parameter_values, template_version_preset_id: id } = order
      const given = id === undefined ? undefined : presets.find((preset) => preset.id === id)
      if (id !== undefined && given === undefined) {
        return yield* Invalid.field("template_version_preset_id", "There is no such preset in the template version")
      }
      // A first build is given the values of the preset it names by its values
      return { presets, chosen: given ?? (previous === null ? matchingPreset(presets, rich_parameter_values) : undefined) }
    })

  /**
   * The parameters of the build: in the classic flow those that the import found, else those of the form with the build's values. A stop or
   * delete goes on with the former if there is no form.
   */
  const definitionsOf = (
    { owner, template }: BuildTarget,
    { transition }: BuildOrder,
    imported: ImportedVersion,
    values: { readonly given: ReadonlyArray<ParameterValue>; readonly previous: ReadonlyArray<ParameterValue> },
    reads: BuildReads
  ) => {
    const stored = reads.definitions(imported.version.id)
    if (template.use_classic_parameter_flow) return stored
    const ofForm = forms.definitions({ ...imported, template_name: template.name }, owner, values)
    return transition === "start" ? ofForm : Effect.catchAll(ofForm, () => stored)
  }

  /** Tags of the template are expressions in the engine's language; most templates have none. */
  const evaluatedTags = (prepared: Omit<PreparedBuild, "chosen" | "tags" | "presetId">) =>
    // The bound below takes several fibers
    Object.keys(prepared.version.workspace_tags).length === 0 ? Effect.succeed({}) : evaluate(prepared)

  const evaluate = ({ order, parameters, source, target, version }: Omit<PreparedBuild, "chosen" | "tags" | "presetId">) =>
    Effect.gen(function* () {
      const session = yield* sources.openVersion(version, source.file_id)
      if (session.workspaceTags === undefined) return version.workspace_tags
      return yield* session.workspaceTags({
        // The build has no id yet, and its tags depend on none
        metadata: yield* inputs.metadata({ ...target, id: nil, transition: order.transition, version }),
        variables: yield* versions.variables(version.id),
        parameters
      })
    }).pipe(
      Effect.scoped,
      Effect.mapError(({ message }) => new Invalid({ message: "The workspace's tags cannot be evaluated.", detail: message })),
      // What an engine does not give up goes on by itself
      Effect.disconnect,
      Effect.timeoutFail({ duration: tagsTime, onTimeout: () => tookTooLong })
    )

  return { versionOf, presetOf, definitionsOf, evaluatedTags }
}
