import { Context, type Effect, type Option } from "effect"
import type { Duplicate } from "../../platform/Errors.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ProvisionerKey, ProvisionerKeyId } from "./ProvisionerKey.js"

export class ProvisionerKeyRepository extends Context.Tag("@atelier/core/ProvisionerKeyRepository")<
  ProvisionerKeyRepository,
  {
    /** Fails with the index `provisioner_keys_organization_id_name`. */
    readonly insert: (key: ProvisionerKey, hashedSecret: Uint8Array) => Effect.Effect<void, Duplicate>
    /** By creation. */
    readonly list: (organizationId: Uuid) => Effect.Effect<ReadonlyArray<ProvisionerKey>>
    readonly byIds: (ids: ReadonlyArray<ProvisionerKeyId>) => Effect.Effect<ReadonlyArray<ProvisionerKey>>
    /** By its name in lower case. */
    readonly byName: (organizationId: Uuid, name: string) => Effect.Effect<Option.Option<ProvisionerKey>>
    /** By the SHA-256 of its secret. */
    readonly bySecret: (hashedSecret: Uint8Array) => Effect.Effect<Option.Option<ProvisionerKey>>
    /** False if it was deleted already. */
    readonly delete: (id: ProvisionerKeyId) => Effect.Effect<boolean>
  }
>() {}
