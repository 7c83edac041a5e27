/** The processes that callers of the API have started in the workspace. agents-and-apps.md §17. */
import type { Effect } from "effect"
import type { Place } from "../../environment/Place.js"
import type { Marks } from "../../scripts/Marks.js"
import type { Served } from "../Route.js"
import { execRoute } from "./Exec.js"
import * as Occupancy from "./Occupancy.js"

/** The routes of processes. */
export const make = (place: Effect.Effect<Place>, marks: Marks): Served => {
  const occupancy = Occupancy.make()
  return { routes: [execRoute(place, marks, occupancy)], sockets: [] }
}
