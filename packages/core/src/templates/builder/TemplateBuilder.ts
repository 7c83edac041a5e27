import { Context, Effect, Either, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { Organizations } from "../../organizations/Organizations.js"
import {
  Invalid,
  NotFound,
  refuseViolations,
  type TimedOut,
  type Validation,
  validationsOf,
  type Unauthenticated,
  type Forbidden,
  type TooLarge,
  type Conflict
} from "../../platform/Errors.js"
import { makeKeyedLock } from "../../platform/collections/KeyedLock.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { Archives } from "../../provisioning/files/Archives.js"
import { Files } from "../../provisioning/files/Files.js"
import { JobLogRepository } from "../../provisioning/logs/JobLogRepository.js"
import { ProvisionerJobRepository } from "../../provisioning/jobs/ProvisionerJobRepository.js"
import type { ProvisionerTags } from "../../provisioning/queue/ProvisionerTags.js"
import { takenTemplate } from "../Template.js"
import { TemplateCreation } from "../TemplateCreation.js"
import { TemplateRepository } from "../TemplateRepository.js"
import { newTemplateViolations } from "../settings/TemplateSettingsRules.js"
import { TemplateVersionCreation } from "../versions/TemplateVersionCreation.js"
import { BuilderCatalog, type BuilderBase, type BuilderModule } from "./BuilderCatalog.js"
import { compose, type Composition } from "./composition.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { TemplateView } from "../TemplateView.js"
import type { Auditing } from "../../audit/Audit.js"
import { composedImport } from "./ComposedImport.js"

/** A template to compose and create. */
export interface ComposedTemplate extends Composition {
  readonly organization_id: Uuid
  readonly name: string
  readonly display_name?: string | undefined
  readonly description?: string | undefined
  readonly icon?: string | undefined
  readonly provisioner_tags: ProvisionerTags
}

/** What a wizard tells of its use. */
export interface BuilderSession {
  readonly session_id?: Uuid | undefined
  readonly event_type: string
}

export const builderEvents = ["wizard_entry", "compose_completion"] as const

/** The actor with the rights of now. */
const renewed = Effect.flatMap(CurrentActor, (actor) => actor.credential?.renew ?? Effect.succeed(actor))

/** The methods of {@link TemplateBuilder}. */
export interface TemplateBuilderService {
  /** The templates to begin with, by name. Like every operation here, it fails with `NotFound` while the builder is switched off. */
  readonly bases: () => Effect.Effect<ReadonlyArray<BuilderBase>, NotFound, CurrentActor>

  /** The modules, of those that work with a base if one is named. */
  readonly modules: (baseId: string) => Effect.Effect<ReadonlyArray<BuilderModule>, Invalid | NotFound, CurrentActor>

  /** The archive of a composed template, which is stored nowhere. */
  readonly compose: (composition: Composition) => Effect.Effect<Uint8Array<ArrayBufferLike>, Invalid | NotFound, CurrentActor>

  /**
   * Composes a template and creates it, once its import has succeeded. Creations of one user take turns. Fails with `Conflict` if the name
   * is taken, with `Invalid` if the import fails, and with `TimedOut` if it takes longer than two minutes.
   */
  readonly create: (
    composed: ComposedTemplate
  ) => Effect.Effect<
    TemplateView,
    Invalid | Unauthenticated | Forbidden | NotFound | TooLarge | Conflict | TimedOut,
    CurrentActor | Auditing
  >

  /** Accepts a usage event of a wizard, and stores nothing. */
  readonly record: (session: BuilderSession) => Effect.Effect<void, Invalid | NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const options = yield* DeploymentOptions
  const organizations = yield* Organizations
  const templates = yield* TemplateRepository
  const jobs = yield* ProvisionerJobRepository
  const logs = yield* JobLogRepository
  const archives = yield* Archives
  const files = yield* Files
  const versions = yield* TemplateVersionCreation
  const creation = yield* TemplateCreation

  /** Each creation waits for an import: those of one user take turns. */
  const inTurn = makeKeyedLock<Uuid>()

  const served = options.disableTemplateBuilder ? new NotFound({ message: "The template builder is switched off." }) : Effect.void

  const registry = options.templateBuilderRegistryUrl.replace(/^https?:\/\//, "").replace(/\/+$/, "")

  /** The archive of a composition. Fails with `Invalid` for one that is not possible. */
  const archiveOf = (composition: Composition) =>
    Effect.gen(function* () {
      yield* refuseViolations(validationsOf({ base_template_id: composition.base_template_id === "" ? "is required" : undefined }))
      const composed = compose(yield* BuilderCatalog, composition, registry)
      if (Either.isLeft(composed)) return yield* new Invalid({ message: "The template cannot be composed.", detail: composed.left })
      return yield* archives.tarOf(composed.right)
    })

  const { imported } = composedImport({ logs, jobs })

  const createNow = (composed: ComposedTemplate) =>
    Effect.gen(function* () {
      const { id } = yield* organizations.get(composed.organization_id)
      yield* Access.authorizeOrHide("create", AccessObjects.inOrganization("template", id))
      const { description, display_name, icon, name } = composed
      const settings = { description, display_name, icon, name }
      yield* refuseViolations(newTemplateViolations(settings, yield* Entitlements))
      if (Option.isSome(yield* templates.byName(id, name))) return yield* takenTemplate(name)
      const tar = yield* archiveOf(composed)
      const { userId } = yield* CurrentActor
      yield* Access.authorize("create", AccessObjects.ownedBy("file", userId))
      const file = yield* files.storeTar(userId, tar)
      const version = yield* versions.create(id, {
        provisioner: "terraform",
        file_id: file.id,
        message: "",
        tags: composed.provisioner_tags,
        user_variable_values: []
      })
      yield* imported(version.job.id)
      // The import may have taken minutes
      return yield* Effect.provideServiceEffect(
        creation.create(id, { ...settings, template_version_id: version.id }),
        CurrentActor,
        renewed
      )
    })

  const inAnyOrganization = (action: "create" | "read") =>
    Effect.zipRight(served, Access.authorizeOrHide(action, { type: "template", anyOrg: true }))

  return {
    bases: Traced.fn("TemplateBuilder.bases")(function* () {
      yield* inAnyOrganization("read")
      return (yield* BuilderCatalog).bases.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    }),

    modules: Traced.fn("TemplateBuilder.modules")(function* (baseId: string) {
      yield* inAnyOrganization("read")
      const { bases, modules } = yield* BuilderCatalog
      if (baseId === "") return modules
      const base = bases.find(({ id }) => id === baseId)
      if (base === undefined) return yield* Invalid.field("base", "names no base")
      return modules.filter(({ compatible_os }) => compatible_os.includes(base.os))
    }),

    compose: Traced.fn("TemplateBuilder.compose")(function* (composition: Composition) {
      yield* inAnyOrganization("create")
      return yield* archiveOf(composition)
    }),

    create: Traced.fn("TemplateBuilder.create")(function* (composed: ComposedTemplate) {
      yield* served
      const { userId } = yield* CurrentActor
      return yield* createNow(composed).pipe(Effect.provideServiceEffect(CurrentActor, renewed), inTurn(userId))
    }),

    record: Traced.fn("TemplateBuilder.record")(function* ({ event_type, session_id }: BuilderSession) {
      yield* inAnyOrganization("create")
      const violations: ReadonlyArray<Validation> = validationsOf({
        session_id: session_id === undefined ? "is required" : undefined,
        event_type: builderEvents.some((event) => event === event_type) ? undefined : `must be one of ${builderEvents.join(", ")}`
      })
      yield* refuseViolations(violations)
    })
  }
})

/** Composes templates of a base and modules. deployment.md §11. */
export class TemplateBuilder extends Context.Tag("@atelier/core/TemplateBuilder")<TemplateBuilder, TemplateBuilderService>() {
  static readonly layer = standingOn(
    service(TemplateBuilder, make),
    Files.layer,
    Organizations.layer,
    TemplateVersionCreation.layer,
    TemplateCreation.layer
  )
}
