/** Documents of OAuth2 clients, read as the key sets of clients are. */
import { ClientDocuments, DocumentUnavailable } from "@atelier/core/oauth2"
import { Effect, Layer } from "effect"
import { fetchKeySet } from "./NodeKeySets.js"

export const layer = Layer.succeed(ClientDocuments, {
  read: (url) => Effect.mapError(fetchKeySet(url), ({ message }) => new DocumentUnavailable({ message }))
})
