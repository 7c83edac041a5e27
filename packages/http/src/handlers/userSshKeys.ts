import { UserSshKeys } from "@atelier/core/identity"
import { Effect } from "effect"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"

export const userSshKeys = Handlers.group(Contract, "userSshKeys", (handlers) =>
  Effect.map(UserSshKeys, (keys) =>
    handlers
      .handle("getGitSshKey", ({ path }) => keys.get(path.user))
      .handle("regenerateGitSshKey", ({ path }) => keys.regenerate(path.user))
  )
)
