import { type Alarms, makeAlarms, service } from "@atelier/core/platform"
import { Context } from "effect"

/** The alarms by which open streams show and ask for signs of life. */
export class Heartbeat extends Context.Tag("@atelier/http/Heartbeat")<Heartbeat, Alarms>() {
  static readonly layer = service(Heartbeat, makeAlarms)
}
