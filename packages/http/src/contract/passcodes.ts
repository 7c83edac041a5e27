/** One-time passcodes for who has forgotten the password. identity.md §6.5. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { refusals } from "../errors.js"
import { Body, secret, text } from "../input.js"
import { Limiter } from "./annotations.js"

export const passcodes = HttpApiGroup.make("passcodes")
  .add(
    HttpApiEndpoint.post("requestPasscode", "/api/v2/users/otp/request")
      .setPayload(Body({ email: text }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("Forbidden"))
      .annotate(Limiter, "login")
  )
  .add(
    HttpApiEndpoint.post("changePasswordWithPasscode", "/api/v2/users/otp/change-password")
      .setPayload(Body({ email: text, one_time_passcode: secret, password: secret }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("Forbidden"))
      .annotate(Limiter, "login")
  )
