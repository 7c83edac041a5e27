import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { Effect } from "effect"

/** Whether a query names a parameter, with whatever value: some clients send a switch without one. wire.md W10. */
export const isGiven = (name: string) => Effect.map(HttpServerRequest.ParsedSearchParams, (query) => Object.hasOwn(query, name))
