/** What the relay of a process tells of itself. agents-and-apps.md §12. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Numbers } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { operation } from "../annotations.js"
import { Authenticated } from "../authentication.js"

const BytesSentRecv = Schema.Struct({
  key: Schema.String,
  recv: Numbers.described(Numbers.Count, "Bytes of packets that the peer has received."),
  sent: Numbers.described(Numbers.Count, "Bytes of packets that the peer has sent.")
}).annotations({ identifier: "BytesSentRecv" })

export const relay = HttpApiGroup.make("relay")
  .annotate(OpenApi.Description, "The embedded relay, which forwards packets between peers that cannot reach each other.")
  .add(
    HttpApiEndpoint.get("getRelayTraffic", "/api/v2/debug/derp/traffic")
      .annotateContext(
        operation("Get relay traffic", "Returns what each connected peer has sent and received through the relay of the answering process.")
      )
      .addSuccess(Schema.Array(BytesSentRecv))
      .addError(refusals("Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
