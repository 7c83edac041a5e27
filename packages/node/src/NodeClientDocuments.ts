/** Documents of OAuth2 clients, read as the key sets of clients are. */
import { type ClientDocuments, DocumentUnavailable } from "@atelier/core/oauth2"
import { Effect } from "effect"
import { fetchKeySet, type KeySetOptions } from "./NodeKeySets.js"

/** Reads documents at `https` addresses, of the Internet alone unless `isAllowed` allows others. */
export const make = (options: KeySetOptions = {}): ClientDocuments["Type"] => ({
  read: (url) => Effect.mapError(fetchKeySet(url, options), ({ message }) => new DocumentUnavailable({ message }))
})
