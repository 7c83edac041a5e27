import { GitSshKeys } from "@atelier/core/identity"
import { Effect } from "effect"
import { Contract } from "../contract/Contract.js"
import * as Handlers from "./Handlers.js"

export const gitSshKeys = Handlers.group(Contract, "gitSshKeys", (handlers) =>
  Effect.map(GitSshKeys, (keys) =>
    handlers
      .handle("getGitSshKey", ({ path }) => keys.get(path.user))
      .handle("regenerateGitSshKey", ({ path }) => keys.regenerate(path.user))
  )
)
