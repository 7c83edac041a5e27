/** One-time passcodes for who has forgotten the password. identity.md §6.5. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { refusals } from "../../wire/errors.js"
import { Body, needed, secret, text } from "../../wire/input.js"
import { Limiter, operation } from "../annotations.js"

export const passcodes = HttpApiGroup.make("passcodes")
  .annotate(OpenApi.Description, "One-time passcodes for forgotten passwords.")
  .add(
    HttpApiEndpoint.post("requestPasscode", "/api/v2/users/otp/request")
      .annotateContext(
        operation(
          "Request a one-time passcode",
          "Mails a passcode to the user with this email address. The answer does not show whether such a user exists."
        )
      )
      .setPayload(Body({ email: needed(text) }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("Forbidden"))
      .annotate(Limiter, "login")
  )
  .add(
    HttpApiEndpoint.post("changePasswordWithPasscode", "/api/v2/users/otp/change-password")
      .annotateContext(operation("Reset a password", "Sets a new password with a one-time passcode and ends the user's sessions."))
      .setPayload(Body({ email: needed(text), one_time_passcode: needed(secret), password: needed(secret) }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("Forbidden"))
      .annotate(Limiter, "login")
  )
