import { GitSshKeys } from "@atelier/core/identity"
import { Effect } from "effect"
import * as contract from "../../contract/identity/gitSshKeys.js"
import * as Handlers from "../Handlers.js"

export const gitSshKeys = Handlers.group(contract.gitSshKeys, (handlers) =>
  Effect.map(GitSshKeys, (keys) =>
    handlers
      .handle("getGitSshKey", ({ path }) => keys.get(path.user))
      .handle("regenerateGitSshKey", ({ path }) => keys.regenerate(path.user))
  )
)
