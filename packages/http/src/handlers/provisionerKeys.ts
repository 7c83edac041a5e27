import { requireFeature } from "@atelier/core/deployment"
import { Invalid, Unauthenticated } from "@atelier/core/platform"
import { type ProvisionerKey, ProvisionerKeys } from "@atelier/core/provisioning"
import { Effect, Redacted, Struct } from "effect"
import { Brand } from "../Brand.js"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"

const keyView = ({ created_at, id, name, organization_id, tags }: ProvisionerKey) => ({
  id,
  created_at,
  organization: organization_id,
  name,
  tags
})

const licensed = requireFeature("external_provisioner_daemons")

export const provisionerKeys = Handlers.group(Contract, "provisionerKeys", (handlers) =>
  Effect.gen(function* () {
    const keys = yield* ProvisionerKeys
    const { provisionerKeyHeader, provisionerPskHeader } = yield* Brand

    return handlers
      .handle("createProvisionerKey", ({ path, payload }) =>
        Effect.gen(function* () {
          yield* licensed
          return { key: Redacted.value(yield* keys.create(path.organization, payload.name, payload.tags)) }
        })
      )
      .handle("listProvisionerKeys", ({ path }) =>
        Effect.zipRight(
          licensed,
          Effect.map(keys.list(path.organization), (found) => found.map(keyView))
        )
      )
      .handle("listProvisionerKeyDaemons", ({ path }) =>
        Effect.zipRight(
          licensed,
          Effect.map(keys.withDaemons(path.organization), (found) =>
            found.map(({ daemons, key }) => ({
              key: keyView(key),
              daemons: daemons.map(({ last_seen_at, ...daemon }) => ({
                ...Struct.omit(daemon, "current_job_id", "previous_job_id"),
                ...(last_seen_at === null ? {} : { last_seen_at }),
                key_name: null,
                status: null,
                current_job: null,
                previous_job: null
              }))
            }))
          )
        )
      )
      .handle("deleteProvisionerKey", ({ path }) => Effect.zipRight(licensed, keys.delete(path.organization, path.provisionerkey)))
      .handle("getProvisionerKey", ({ request }) =>
        Effect.gen(function* () {
          yield* licensed
          const secret = request.headers[provisionerKeyHeader.toLowerCase()]
          const shared = request.headers[provisionerPskHeader.toLowerCase()]
          if (secret === undefined || secret === "") return yield* new Unauthenticated({ message: "A provisioner key is needed." })
          if (shared !== undefined) return yield* new Invalid({ message: "A provisioner key and a pre-shared key exclude each other." })
          return keyView(yield* keys.authenticate(Redacted.make(secret)))
        })
      )
  })
)
