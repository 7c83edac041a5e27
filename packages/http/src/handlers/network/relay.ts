import { Relay } from "@atelier/core/network"
import { Effect } from "effect"
import * as contract from "../../contract/network/relay.js"
import { keyOfText } from "../../relay/RelayClient.js"
import * as Handlers from "../Handlers.js"

export const relay = Handlers.group(contract.relay, (handlers) =>
  Effect.map(Relay, ({ traffic }) =>
    handlers.handle("getRelayTraffic", () =>
      Effect.map(traffic, (peers) =>
        peers.map(({ key, received, sent }) => ({ key: `nodekey:${keyOfText(key).toString("hex")}`, recv: received, sent }))
      )
    )
  )
)
