import { Organizations } from "@atelier/core/organizations"
import { Effect } from "effect"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"

export const organizations = Handlers.group(Contract, "organizations", (handlers) =>
  Effect.map(Organizations, (organizations) =>
    handlers
      .handle("listOrganizations", () => organizations.list())
      .handle("getOrganization", ({ path }) => organizations.get(path.organization))
  )
)
