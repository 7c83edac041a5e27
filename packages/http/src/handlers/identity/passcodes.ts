import { Passcodes } from "@atelier/core/identity"
import { Effect } from "effect"
import * as contract from "../../contract/identity/passcodes.js"
import { callInfo } from "../../server/request/CurrentRequest.js"
import * as Handlers from "../Handlers.js"

export const passcodes = Handlers.group(contract.passcodes, (handlers) =>
  Effect.map(Passcodes, (passcodes) =>
    handlers
      .handle("requestPasscode", ({ payload }) => Effect.flatMap(callInfo, (info) => passcodes.request(payload.email, info)))
      .handle("changePasswordWithPasscode", ({ payload }) => Effect.flatMap(callInfo, (info) => passcodes.changePassword(payload, info)))
  )
)
