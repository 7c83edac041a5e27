import { Cause, Context, Duration, Effect, Either, Option } from "effect"
import { CurrentActor } from "../../access/actors/Actor.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Invalid } from "../../platform/Errors.js"
import { nil } from "../../platform/texts/Uuid.js"
import type { File } from "../../provisioning/files/File.js"
import type { PreviewInput, ProvisionFailure } from "../../provisioning/engines/ProvisionerEngine.js"
import type { ProvisionerTags } from "../../provisioning/queue/ProvisionerTags.js"
import type { ParsedTemplate, UserVariableValue } from "../../provisioning/engines/SourceDefinitions.js"
import { type OpenSource, TemplateSources } from "../../provisioning/engines/TemplateSources.js"
import type { Template } from "../Template.js"
import { TemplateVersionRepository } from "./TemplateVersionRepository.js"
import { resolveVariables } from "./Variables.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"

/** Errors of a form that a refusal has. */
const shownErrors = 10

/** How long a request waits for the tags of a source. */
const timeout = Duration.seconds(5)

/** The template that a version is for. In the classic flow of parameters its presets are checked when they are used. */
type VersionedTemplate = Pick<Template, "id" | "use_classic_parameter_flow">

/** A source with what its evaluations are given. */
interface Opened {
  readonly session: OpenSource
  readonly parsed: ParsedTemplate
  readonly input: PreviewInput
}

/** What an effect gives in time. What else goes wrong than a refusal is for the import to tell, to more people and for longer. */
const orElse = <A, B, E, R>(effect: Effect.Effect<A, E | Invalid, R>, instead: B): Effect.Effect<A | B, Invalid, R> =>
  effect.pipe(
    Effect.timeoutOption(timeout),
    Effect.map(Option.getOrElse(() => instead)),
    Effect.catchAllCause((cause) => {
      const failure = Option.getOrUndefined(Cause.failureOption(cause))
      return failure instanceof Invalid ? failure : Effect.as(Effect.logDebug("a source could not be evaluated", cause), instead)
    })
  )

/** The methods of {@link SourceTags}. */
export interface SourceTagsService {
  /**
   * The tags that a source gives its jobs, with the given variables, no parameters and the actor as the owner. None where no engine of
   * this process understands the source, or where it is broken: its import then says why. Fails with `Invalid` for what no import has to
   * tell: a source that is no tar, a form that is broken as a whole, such as one with two parameters of one name, unusable tags, and presets that cannot be
   * used. templates-and-provisioning.md §3.2.
   */
  readonly evaluate: (
    file: File,
    given: ReadonlyArray<UserVariableValue>,
    template: VersionedTemplate | undefined
  ) => Effect.Effect<Readonly<Record<string, string>>, Invalid, CurrentActor>
}

const make = Effect.gen(function* () {
  const sources = yield* TemplateSources
  const versions = yield* TemplateVersionRepository

  const opened = (file: File, given: ReadonlyArray<UserVariableValue>, template: VersionedTemplate | undefined) =>
    Effect.gen(function* () {
      const session = yield* Effect.catchIf(
        sources.open(file.id, () => Effect.void),
        ({ validations }) => validations !== undefined,
        ({ message, validations = [] }) => new Invalid({ message, validations })
      )
      const parsed = yield* session.parse
      const active = template === undefined ? [] : yield* versions.activeVariables(template.id)
      const variables = Either.getOrElse(resolveVariables(parsed.variables, given, active), () => [])
      const { userId, username = "default" } = yield* CurrentActor
      const { accessUrl } = yield* DeploymentOptions
      const input: PreviewInput = {
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
          template_id: template?.id ?? nil,
          template_name: "",
          template_version: ""
        },
        variables,
        parameters: []
      }
      return { session, parsed, input }
    })

  const tagsOf = ({ input, session }: Opened): Effect.Effect<ProvisionerTags, Invalid | ProvisionFailure> | undefined =>
    session.workspaceTags === undefined
      ? undefined
      : Effect.catchIf(
          session.workspaceTags(input),
          ({ validations }) => validations !== undefined,
          ({ validations }) =>
            new Invalid({ message: "The tags of the template's workspaces cannot be used.", validations: validations ?? [] })
        )

  const refuseViolationsOf = ({ input, session }: Opened, template: VersionedTemplate | undefined) =>
    Effect.gen(function* () {
      const { diagnostics } = session.preview === undefined ? { diagnostics: [] } : yield* session.preview(input)
      const errors = diagnostics.filter(({ severity }) => severity === "error")
      if (errors.length > 0) {
        const detail = errors.slice(0, shownErrors).map(({ detail, summary }) => `${summary}: ${detail}`)
        return yield* new Invalid({ message: "The form of the template is broken.", detail: detail.join("\n") })
      }
      const isClassic = template?.use_classic_parameter_flow === true
      const violations = isClassic || session.presetViolations === undefined ? [] : yield* session.presetViolations(input)
      if (violations.length > 0)
        return yield* new Invalid({ message: "The presets of the template cannot be used.", validations: violations })
    })

  return {
    evaluate: Traced.fn("SourceTags.evaluate")(function* (
      file: File,
      given: ReadonlyArray<UserVariableValue>,
      template: VersionedTemplate | undefined
    ) {
      const source = yield* orElse(opened(file, given, template), undefined)
      if (source === undefined) return {}
      // A version with much to check still has its jobs' tags. No daemon has an expression as a tag, so the import would wait for ever
      const { literal_tags, workspace_tags } = source.parsed
      const tags = yield* Effect.either(orElse(tagsOf(source) ?? Effect.succeed(workspace_tags), literal_tags ?? workspace_tags))
      yield* orElse(refuseViolationsOf(source, template), undefined)
      return yield* tags
    }, Effect.scoped)
  }
})

/** The tags in a template's source, before its import. */
export class SourceTags extends Context.Tag("@atelier/core/SourceTags")<SourceTags, SourceTagsService>() {
  static readonly layer = standingOn(service(SourceTags, make), TemplateSources.layer)
}
