import { Cause, Context, Duration, Effect, Either, Option } from "effect"
import { CurrentActor } from "../../access/actors/Actor.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Invalid, TimedOut } from "../../platform/Errors.js"
import { storeUnavailable } from "../../platform/store/StoreUnavailable.js"
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
const tagsTime = Duration.seconds(15)

/** How long it waits beyond them for the checks of the form and of the presets, which the import makes too. */
const checksTime = Duration.seconds(5)

/** The template that a version is for. In the classic flow of parameters its presets are checked when they are used. */
type VersionedTemplate = Pick<Template, "id" | "use_classic_parameter_flow">

/** A source with what its evaluations are given. */
interface Opened {
  readonly session: OpenSource
  readonly parsed: ParsedTemplate
  readonly input: PreviewInput
}

/** Without its tags, a version's jobs would go to daemons that they are not meant for. */
const tookTooLong = new TimedOut({
  message: "The tags of the template's workspaces could not be evaluated in time. Try again.",
  detail: `The evaluation had not ended after ${Duration.format(tagsTime)}. The service is busy, or the template needs too long.`
})

/**
 * The result of an effect, or another value if the source or its engine is broken: the import tells that to more people and for longer. A store that is
 * away says nothing of the source.
 */
const orElse = <A, B, E, R>(effect: Effect.Effect<A, E | Invalid, R>, instead: B): Effect.Effect<A | B, Invalid, R> =>
  Effect.catchAllCause(effect, (cause) => {
    const failure = Option.getOrUndefined(Cause.failureOption(cause))
    if (failure instanceof Invalid) return failure
    const away = Option.getOrUndefined(storeUnavailable(cause))
    return away === undefined ? Effect.as(Effect.logDebug("a source could not be evaluated", cause), instead) : Effect.die(away)
  })

/** Fails with `Invalid` for what a check finds in time. What it does not find, the import does. */
const ifInTime = <E, R>(check: Effect.Effect<void, E | Invalid, R>): Effect.Effect<void, Invalid, R> =>
  check.pipe(
    Effect.timeoutOption(checksTime),
    Effect.asVoid,
    Effect.catchAllCause((cause) => {
      const failure = Option.getOrUndefined(Cause.failureOption(cause))
      return failure instanceof Invalid ? failure : Effect.logDebug("a source could not be checked", cause)
    })
  )

/** The methods of {@link SourceTags}. */
export interface SourceTagsService {
  /**
   * The tags that a source gives its jobs, with the given variables, no parameters and the actor as the owner. None where no engine of
   * this process understands the source, or where it is broken: its import then says why. Fails with `Invalid` for what no import has to
   * tell: a source that is no tar, a form that is broken as a whole, such as one with two parameters of one name, unusable tags, and presets that cannot be
   * used; with `TimedOut` if the tags are not known in time. templates-and-provisioning.md §3.2.
   */
  readonly evaluate: (
    file: File,
    given: ReadonlyArray<UserVariableValue>,
    template: VersionedTemplate | undefined
  ) => Effect.Effect<Readonly<Record<string, string>>, Invalid | TimedOut, CurrentActor>
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
      const known = yield* Effect.gen(function* () {
        const source = yield* orElse(opened(file, given, template), undefined)
        if (source === undefined) return undefined
        const { literal_tags, workspace_tags } = source.parsed
        // No daemon has an expression as a tag, so an import with one would wait for ever
        return {
          source,
          tags: yield* Effect.either(orElse(tagsOf(source) ?? Effect.succeed(workspace_tags), literal_tags ?? workspace_tags))
        }
      }).pipe(Effect.timeoutFail({ duration: tagsTime, onTimeout: () => tookTooLong }))
      if (known === undefined) return {}
      yield* ifInTime(refuseViolationsOf(known.source, template))
      return yield* known.tags
    }, Effect.scoped)
  }
})

/** The tags in a template's source, before its import. */
export class SourceTags extends Context.Tag("@atelier/core/SourceTags")<SourceTags, SourceTagsService>() {
  static readonly layer = standingOn(service(SourceTags, make), TemplateSources.layer)
}
