/** What a stored license says, and the event of its change. */
import { Encoding, Either, Schema } from "effect"
import { channel } from "../../platform/events/EventBus.js"
import type { License } from "./License.js"
import type { LicenseView } from "./Licenses.js"

/** Tells all replicas that licenses have changed. */
export const licensesChanged = channel("licenses", Schema.Struct({}))

const Claims = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

/** The payload of a token; empty where it has none. */
const payloadOf = (token: string): Readonly<Record<string, unknown>> =>
  Encoding.decodeBase64UrlString(token.split(".")[1] ?? "").pipe(
    Either.flatMap(Schema.decodeEither(Claims)),
    Either.getOrElse(() => ({}))
  )

export const viewOf = ({ id, token, uploaded_at, uuid }: License): LicenseView => ({ id, uuid, uploaded_at, claims: payloadOf(token) })
