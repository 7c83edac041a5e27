import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { NotFound } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { transaction, type Transactor } from "../platform/store/Transactor.js"
import { nil, parse } from "../platform/texts/Uuid.js"
import { defaultAlias, initialDefaultMemberRoles, type Organization } from "./Organization.js"
import { OrganizationRepository } from "./OrganizationRepository.js"
import * as Traced from "../platform/wiring/Traced.js"
import { service } from "../platform/wiring/Standing.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import type { EventBus } from "../platform/events/EventBus.js"

/** The methods of {@link Organizations}. */
export interface OrganizationsService {
  /**
   * The organization a path or query names: `default` or the nil UUID, an id, or a name without regard to case.
   * Fails with `NotFound` where the actor may not read it. authorization.md §6.1.
   */
  readonly get: (reference: string) => Effect.Effect<Organization, NotFound, CurrentActor>

  /** The organizations the actor may read, by name. authorization.md §6.2. */
  readonly list: () => Effect.Effect<ReadonlyArray<Organization>, never, CurrentActor>

  /** Makes sure the default organization exists; the service runs it when it starts. Any number of processes may do so at once. */
  readonly ensureDefault: Effect.Effect<Organization, never, EventBus | Transactor>
}

const make = Effect.gen(function* () {
  const repository = yield* OrganizationRepository
  const ids = yield* Ids
  const { defaultOrganizationName: initialName } = yield* DeploymentOptions

  const find = (reference: string): Effect.Effect<Option.Option<Organization>> => {
    const id = parse(reference)
    if (reference.toLowerCase() === defaultAlias || id === nil) return repository.default
    return id === undefined ? repository.byName(reference) : repository.byId(id)
  }

  return {
    get: Traced.fn("Organizations.get")(function* (reference: string) {
      const organization = yield* find(reference)
      if (Option.isNone(organization) || organization.value.deleted) return yield* new NotFound({ resource: "organization" })
      yield* Access.readable(AccessObjects.organization(organization.value))
      return organization.value
    }),

    list: Traced.fn("Organizations.list")(function* () {
      return yield* repository.list(yield* Access.predicate("read", "organization"))
    }),

    ensureDefault: Effect.gen(function* () {
      const existing = yield* repository.default
      if (Option.isSome(existing)) return existing.value
      const now = yield* Timestamp.now
      const organization: Organization = {
        id: yield* ids.next,
        name: initialName,
        display_name: `${initialName.slice(0, 1).toUpperCase()}${initialName.slice(1)}`,
        description: "",
        icon: "",
        created_at: now,
        updated_at: now,
        is_default: true,
        deleted: false,
        default_org_member_roles: initialDefaultMemberRoles,
        shareable_workspace_owners: "everyone"
      }
      return yield* transaction(repository.insert(organization)).pipe(
        Effect.as(organization),
        Effect.catchTag("Duplicate", () => Effect.flatMap(repository.default, Effect.orDie))
      )
    })
  }
})

/** Organizations and who belongs to them. */
export class Organizations extends Context.Tag("@atelier/core/Organizations")<Organizations, OrganizationsService>() {
  static readonly layer = service(Organizations, make)
}
