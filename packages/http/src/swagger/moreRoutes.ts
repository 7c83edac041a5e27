/** The routes beside the contract's endpoints, as the description has them. */
import { appPaths } from "../apps/description.js"
import type { Dialect } from "../wire/dialect.js"
import { protocolDescription } from "../oauth2/description.js"
import type { MoreRoutes } from "./describe.js"

/** The routes in a dialect. */
export const moreRoutes = (wire: Dialect): MoreRoutes => ({
  ...protocolDescription,
  paths: { ...protocolDescription.paths, ...appPaths(wire) }
})
