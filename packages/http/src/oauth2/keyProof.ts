import { type OAuth2App, OAuthError } from "@atelier/core/oauth2"
import { Effect } from "effect"
import type { Request } from "./answering.js"
import type { ProofOfPossession } from "../server/credentials/proofOfPossession.js"

interface Needs {
  readonly proofs: ProofOfPossession["Type"]
}

/** The proof of a client that it has a key (RFC 9449). */
export const keyProof = ({ proofs }: Needs) => {
  /** The thumbprint of the key that a request proves its client to have; undefined without a proof, if the client may do without. */
  const provenKey = (request: Request, path: string, { metadata }: OAuth2App) => {
    if (request.headers["dpop"] === undefined && metadata.dpop_bound_access_tokens !== true) return Effect.succeed(undefined)
    return proofs.check(request, { method: request.method, path, token: undefined }).pipe(
      Effect.tap(({ use }) => use),
      Effect.mapBoth({
        onFailure: ({ message }) => new OAuthError({ error: "invalid_dpop_proof", message }),
        onSuccess: ({ thumbprint }) => thumbprint
      })
    )
  }

  return { provenKey }
}

/** The result of {@link keyProof}. */
export type KeyProof = ReturnType<typeof keyProof>
