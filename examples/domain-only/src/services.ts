/** Use cases without HTTP: the services on a store in memory, with the actor provided. */
import { Deployment, DeploymentOptions } from "@atelier/core/deployment"
import { Ids } from "@atelier/core/platform"
import { Organizations } from "@atelier/core/organizations"
import { Access, SystemActor } from "@atelier/core/access"
import { NodeCryptography } from "@atelier/node"
import { Sqlite } from "@atelier/storage-sqlite"
import { Effect, Layer } from "effect"

const services = Layer.mergeAll(Organizations.layer, Deployment.layer).pipe(
  Layer.provideMerge(Layer.merge(Ids.layer, Sqlite.layer({ filename: ":memory:" }))),
  Layer.provideMerge(NodeCryptography.layer)
)

/** Makes the default organization and finds it by its alias. */
export const defaultOrganization = Effect.gen(function* () {
  const organizations = yield* Organizations
  yield* organizations.ensureDefault
  return yield* organizations.get("default")
}).pipe(Access.actingAs(SystemActor.provisionerd), Effect.provide(services))

/** A rule's parameters are options like any other. */
export const renamesAllowed = Effect.map(DeploymentOptions, ({ allowWorkspaceRenames }) => allowWorkspaceRenames)
