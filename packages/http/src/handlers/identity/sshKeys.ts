import { SshKeys } from "@atelier/core/identity"
import { Effect } from "effect"
import * as contract from "../../contract/identity/sshKeys.js"
import * as Handlers from "../Handlers.js"

export const sshKeys = Handlers.group(contract.sshKeys, (handlers) =>
  Effect.map(SshKeys, (keys) =>
    handlers
      .handle("listSshKeys", ({ path }) => keys.list(path.user))
      .handle("addSshKey", ({ path, payload }) => keys.add(path.user, payload))
      .handle("deleteSshKey", ({ path }) => keys.delete(path.user, path.sshkey))
  )
)
