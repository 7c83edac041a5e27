/** When workspaces of users may be stopped. identity.md §8.8. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Timestamp } from "@atelier/core/platform"
import { Schema } from "effect"
import { listOfOne } from "../../wire/dialect.js"
import { refusals } from "../../wire/errors.js"
import { Body, needed, Path, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { QuietHoursLicensed } from "../licenses.js"

const QuietHours = Schema.Struct({
  raw_schedule: Schema.String,
  /** Whether the user has hours of its own. */
  user_set: Schema.Boolean,
  user_can_set: Schema.Boolean,
  /** `HH:MM` in the time zone. */
  time: Schema.String,
  timezone: Schema.String,
  next: Timestamp.Timestamp
}).annotations({ identifier: "UserQuietHoursScheduleResponse" })

const user = { user: Schema.String }

export const quietHours = HttpApiGroup.make("quietHours")
  .annotate(OpenApi.Description, "Hours in which workspaces may be stopped for maintenance.")
  .add(
    HttpApiEndpoint.get("getQuietHours", "/api/v2/users/:user/quiet-hours")
      .annotateContext(operation("Get quiet hours", "Returns the hours at which a user's workspaces may be stopped for maintenance."))
      .setPath(Path(user))
      .addSuccess(listOfOne(QuietHours))
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("updateQuietHours", "/api/v2/users/:user/quiet-hours")
      .annotateContext(operation("Set quiet hours", "Sets when a user's quiet hours begin, as a cron expression of one time a day."))
      .setPath(Path(user))
      .setPayload(Body({ schedule: needed(text) }))
      .addSuccess(listOfOne(QuietHours))
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  // Judged in this order
  .middlewareEndpoints(QuietHoursLicensed)
  .middlewareEndpoints(Authenticated)
