/** What an endpoint says about how it is served, besides its schemas: `endpoint.annotate(Limiter, "login")`. */
import * as OpenApi from "@effect/platform/OpenApi"
import { Context } from "effect"

/** What an operation does, in a few words and in full: `endpoint.annotateContext(operation("Get a group", "Returns …"))`. */
export const operation = (summary: string, description: string) => OpenApi.annotations({ summary, description })

/** The limiter that counts the endpoint's calls besides the one of the whole API. identity.md §1.8. */
export class Limiter extends Context.Reference<Limiter>()("@atelier/http/contract/Limiter", {
  defaultValue: (): "none" | "login" | "files" => "none"
}) {}

/** The largest body in bytes; JSON bodies have 4 MiB unless the endpoint says otherwise. identity.md §1.4. */
export class BodyLimit extends Context.Reference<BodyLimit>()("@atelier/http/contract/BodyLimit", {
  defaultValue: () => 4 * 1024 * 1024
}) {}

/** The path works with a slash behind it too: that of a collection or of the root of a sub-tree. identity.md §1.5. */
export class TrailingSlash extends Context.Reference<TrailingSlash>()("@atelier/http/contract/TrailingSlash", {
  defaultValue: () => false
}) {}
