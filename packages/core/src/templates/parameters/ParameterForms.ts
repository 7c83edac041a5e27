import { Context, Effect, Mailbox, Option, Stream } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { rightTo, type StreamRight } from "../../access/streams/StreamRights.js"
import type { User } from "../../identity/users/User.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import { Invalid, NotReady, type NotFound, type TimedOut } from "../../platform/Errors.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { afterwards } from "../../platform/store/Transactor.js"
import { errorDiagnostic, type ParameterForm, type Diagnostic, type FormParameter } from "../../provisioning/engines/ParameterForm.js"
import { jobStatus, type ProvisionerJob } from "../../provisioning/jobs/ProvisionerJob.js"
import { ProvisionerJobRepository } from "../../provisioning/jobs/ProvisionerJobRepository.js"
import type { ParameterValue, RichParameter } from "../../provisioning/engines/SourceDefinitions.js"
import { boundedEvaluation } from "./EvaluationBound.js"
import { definitionOf, staticForm } from "./FormParameters.js"
import { VersionSource, VersionSources } from "../versions/KeptSources.js"
import { OwnerMetadata } from "./OwnerMetadata.js"
import type { AuthoredVersion, TemplateVersion, TemplateVersionId } from "../versions/TemplateVersion.js"
import { TemplateVersionRepository } from "../versions/TemplateVersionRepository.js"
import { visibleVersions } from "../versions/VisibleVersion.js"
import * as Traced from "../../platform/wiring/Traced.js"

/** The values that a user has filled in so far, and the owner of the future workspace. */
export interface FormRequest {
  /** Of the client's choice; its answer carries it. */
  readonly id: number
  readonly inputs: Readonly<Record<string, string>>
  /** Absent or nil: the owner of the request before it. */
  readonly owner_id?: Uuid | undefined
}

/** The form for a request. */
export interface FormAnswer extends ParameterForm {
  readonly id: number
}

/** A form that a client fills in over a stream. */
export interface OpenForm {
  readonly right: StreamRight
  /**
   * The form without any value, and then an answer for each request, in the requests' order. Requests that arrive while another is answered
   * replace each other: only the last one gets an answer.
   */
  readonly answers: <E>(requests: Stream.Stream<FormRequest, E>) => Stream.Stream<FormAnswer, E>
}

/** Evaluations at once in this process. */
const concurrency = 4

/** A version, and its import, which has ended. */
export interface ImportedVersion {
  readonly version: TemplateVersion
  readonly job: ProvisionerJob
  /** The name of the version's template, where it has been read. */
  readonly template_name?: string
}

const noOwner: ParameterForm = {
  diagnostics: [
    errorDiagnostic("Failed to fetch workspace owner", "Please check your permissions or the user may not exist.", "owner_not_found")
  ],
  parameters: []
}

const notEvaluated = (reason: string): ParameterForm => ({
  diagnostics: [errorDiagnostic("The parameters of the template cannot be evaluated.", reason)],
  parameters: []
})

/** The methods of {@link ParameterForms}. */
export interface ParameterFormsService {
  /**
   * The parameters that a build with these values has. The previous build's values of ephemeral parameters do not count. Callers check
   * permissions. Fails with `Invalid` if the form cannot be evaluated, and with `TimedOut` if that takes too long. §4.5.
   */
  readonly definitions: (
    target: ImportedVersion,
    owner: User,
    input: { readonly given: ReadonlyArray<ParameterValue>; readonly previous: ReadonlyArray<ParameterValue> }
  ) => Effect.Effect<ReadonlyArray<RichParameter>, Invalid | TimedOut>

  /**
   * The form of a version for values and an owner; its id is 0. An owner that the actor cannot read is a diagnostic with the code
   * `owner_not_found`. Fails with `NotReady` until the import has ended. §4.6.
   */
  readonly get: (
    id: TemplateVersionId,
    request: FormRequest
  ) => Effect.Effect<
    { readonly diagnostics: ReadonlyArray<Diagnostic>; readonly parameters: ReadonlyArray<FormParameter>; readonly id: number },
    NotFound | NotReady,
    CurrentActor
  >

  /** As `get`, for as many requests as a client sends; the first owner is the given user, else the actor. */
  readonly open: (
    id: TemplateVersionId,
    user: Uuid | undefined
  ) => Effect.Effect<
    { readonly right: StreamRight; readonly answers: <E>(requests: Stream.Stream<FormRequest, E>) => Stream.Stream<FormAnswer, E> },
    NotFound | NotReady,
    CurrentActor
  >
}

const make = Effect.gen(function* () {
  const versions = yield* TemplateVersionRepository
  const jobs = yield* ProvisionerJobRepository
  const users = yield* UserRepository
  const owners = yield* OwnerMetadata
  const sources = yield* VersionSources
  const { load } = yield* visibleVersions
  const places = yield* Effect.makeSemaphore(concurrency)

  const source = ({ job, version }: ImportedVersion) => sources.open(new VersionSource({ id: version.id, file: job.file_id }))

  const imported = (version: AuthoredVersion) =>
    Effect.gen(function* () {
      const job = yield* Effect.flatMap(jobs.byId(version.job_id), Effect.orDie)
      if (job.completed_at !== null) return { version, job } satisfies ImportedVersion
      return yield* new NotReady({ message: "Template version job has not finished.", detail: `Its status is ${jobStatus(job)}.` })
    })

  const evaluate = Traced.fn("ParameterForms.evaluate")((target: ImportedVersion, owner: User, parameters: ReadonlyArray<ParameterValue>) =>
    boundedEvaluation((opened) =>
      Effect.gen(function* () {
        const { job, version } = target
        const stored = Effect.map(versions.parameters(version.id), (definitions) => staticForm(definitions, parameters))
        if (jobStatus(job) !== "succeeded") return yield* stored
        const session = Option.getOrUndefined(yield* Effect.option(source(target)))
        if (session?.preview === undefined) return yield* stored
        const input = {
          metadata: yield* owners.ofPlannedStart(version, owner, "default", target.template_name),
          variables: yield* versions.variables(version.id),
          parameters
        }
        yield* opened
        return yield* Effect.catchAll(session.preview(input), ({ message }) => Effect.succeed(notEvaluated(message)))
      }).pipe(Effect.scoped, places.withPermits(1))
    )
  )

  /** The user that a form is for, if the actor may read the user, or the user's membership of the version's organization. */
  const ownerOf = ({ organization_id }: TemplateVersion, id: Uuid) =>
    Effect.gen(function* () {
      const user = Option.getOrUndefined(yield* users.byId(id))
      if (user === undefined || user.deleted) return undefined
      if (yield* Access.can("read", AccessObjects.user(user))) return user
      const isMember = user.organization_ids.includes(organization_id)
      return isMember && (yield* Access.can("read", AccessObjects.organizationMember({ user_id: id, organization_id }))) ? user : undefined
    })

  const answer = (target: ImportedVersion, { id, inputs, owner_id = nil }: FormRequest) =>
    Effect.gen(function* () {
      const owner = yield* ownerOf(target.version, owner_id)
      if (owner === undefined) return { id, ...noOwner } satisfies FormAnswer
      const given = Object.entries(inputs).map(([name, value]) => ({ name, value }))
      const form = yield* Effect.catchTag(evaluate(target, owner, given), "TimedOut", ({ detail = "" }) =>
        Effect.succeed(notEvaluated(detail))
      )
      return { id, ...form } satisfies FormAnswer
    })

  return {
    definitions: Traced.fn("ParameterForms.definitions")(function* (
      target: ImportedVersion,
      owner: User,
      { given, previous }: { readonly given: ReadonlyArray<ParameterValue>; readonly previous: ReadonlyArray<ParameterValue> }
    ) {
      const first = yield* evaluate(target, owner, [...previous, ...given])
      const ephemeral = new Set(first.parameters.filter((parameter) => parameter.ephemeral).map(({ name }) => name))
      const kept = previous.filter(({ name }) => !ephemeral.has(name))
      const form = kept.length === previous.length ? first : yield* evaluate(target, owner, [...kept, ...given])
      const error = form.diagnostics.find(({ severity }) => severity === "error")
      if (error !== undefined) {
        // A wrong value may be why the form is broken
        const validations = form.parameters.flatMap(({ diagnostics, name }) =>
          diagnostics
            .filter(({ severity }) => severity === "error")
            .map((fault) => ({ field: name, detail: `${fault.summary}: ${fault.detail}` }))
        )
        return yield* new Invalid({ message: error.summary, detail: error.detail, validations })
      }
      // A default that only the engine will know is not stored, so that the engine uses its own
      return form.parameters.filter(({ required, value }) => required || value.valid).map(definitionOf)
    }),

    get: Traced.fn("ParameterForms.get")(function* (id: TemplateVersionId, request: FormRequest) {
      return yield* answer(yield* imported(yield* load(id)), { ...request, id: 0 })
    }),

    open: Traced.fn("ParameterForms.open")(function* (id: TemplateVersionId, user: Uuid | undefined) {
      const [right, version] = yield* rightTo(`template_version:${id}`, () => load(id))
      const target = yield* imported(version)
      const actor = yield* CurrentActor
      /** Rights to read owners may have changed since the form was opened. An actor whose credential has ended reads none. */
      const answerNow = (request: FormRequest) =>
        Effect.matchEffect(actor.credential?.renew ?? Effect.succeed(actor), {
          onFailure: () => Effect.succeed<FormAnswer>({ id: request.id, ...noOwner }),
          onSuccess: (current) => Access.actingAs(current)(answer(target, request))
        })
      const answers = <E>(requests: Stream.Stream<FormRequest, E>): Stream.Stream<FormAnswer, E> =>
        Stream.unwrapScoped(
          Effect.gen(function* () {
            let owner_id = user ?? actor.userId
            const initial: FormRequest = { id: -1, inputs: {}, owner_id }
            const waiting = yield* Mailbox.make<FormRequest, E>({ capacity: 1, strategy: "sliding" })
            yield* Stream.runForEach(requests, (request) => {
              // Owners are taken from requests that get no answer too
              if (request.owner_id !== undefined && request.owner_id !== nil) owner_id = request.owner_id
              return waiting.offer({ ...request, owner_id })
            }).pipe(Mailbox.into(waiting), afterwards, Effect.forkScoped)
            return Stream.mapEffect(Stream.concat(Stream.make(initial), Mailbox.toStream(waiting)), answerNow)
          })
        )
      return { right, answers } satisfies OpenForm
    })
  }
})

/** Forms that ask for the values of parameters, for the values given so far. templates-and-provisioning.md §4.5, §4.6. */
export class ParameterForms extends Context.Tag("@atelier/core/ParameterForms")<ParameterForms, ParameterFormsService>() {
  static readonly layer = standingOn(service(ParameterForms, make), OwnerMetadata.layer, VersionSources.layer)
}
