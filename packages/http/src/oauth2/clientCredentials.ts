/** How clients say who they are: in the form, by HTTP Basic, or with an assertion. oauth2-provider.md §2, §7 no. 2. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { type AuthenticatedClient, invalidRequest, OAuth2Clients } from "@atelier/core/oauth2"
import { Effect } from "effect"
import { type AssertionCheck, assertionType, claimedClient } from "./clientAssertion.js"
import type { Parameters } from "../server/request/form.js"

interface Pair {
  readonly id: string
  readonly secret: string
}

const formDecoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return undefined
  }
}

/** The readings of HTTP Basic: by form decoding, as RFC 6749 §2.3.1 says, and as it is, as many clients write it. */
const basicPairs = ({ headers }: HttpServerRequest.HttpServerRequest): ReadonlyArray<Pair> => {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(headers["authorization"] ?? "")?.[1]
  if (encoded === undefined) return []
  const [id = "", ...rest] = Buffer.from(encoded, "base64").toString("utf8").split(":")
  const secret = rest.join(":")
  const [decodedId, decodedSecret] = [formDecoded(id), formDecoded(secret)]
  const raw: Pair = { id, secret }
  if (decodedId === undefined || decodedSecret === undefined || (decodedId === id && decodedSecret === secret)) return [raw]
  return [{ id: decodedId, secret: decodedSecret }, raw]
}

/** Authenticates the client of a request. Parameters of the query do not count (RFC 6749 §2.3.1). */
export const authenticateClient = (
  clients: OAuth2Clients["Type"],
  check: AssertionCheck,
  request: HttpServerRequest.HttpServerRequest,
  form: Parameters
) =>
  Effect.gen(function* () {
    const pairs = basicPairs(request)
    const named = form.get("client_id")
    const given = form.get("client_secret")
    const assertion = form.get("client_assertion")
    if (
      form.repeated(["client_assertion", "client_assertion_type"]).length > 0 ||
      (form.get("client_assertion_type") ?? assertionType) !== assertionType
    )
      return yield* invalidRequest(`The parameter client_assertion_type must be ${assertionType}, once.`)
    const app = yield* clients.get(named ?? pairs[0]?.id ?? (assertion === undefined ? undefined : claimedClient(assertion)))
    const isOther = named !== undefined && pairs.length > 0 && pairs.every(({ id }) => id.toLowerCase() !== named.toLowerCase())
    const secrets = pairs.map(({ secret }) => secret).filter((secret) => secret !== "")
    if (isOther) return yield* invalidRequest("The clients of the header and of the form differ.")
    if ([given !== undefined, secrets.length > 0, assertion !== undefined].filter(Boolean).length > 1)
      return yield* invalidRequest("The client must authenticate in one way: in the header, in the form or with an assertion.")
    const [first = given, ...others] = secrets
    const bySecret = others.reduce(
      (tried, secret) => Effect.orElse(tried, () => clients.authenticate(app, secret)),
      clients.authenticate(app, first)
    )
    /** Decided once the request is known to be well-formed: a wrong secret is found last. */
    const authenticated: Effect.Effect<
      AuthenticatedClient,
      Effect.Effect.Error<typeof bySecret>,
      Effect.Effect.Context<ReturnType<typeof clients.authenticate>> | Effect.Effect.Context<ReturnType<AssertionCheck>>
    > = assertion === undefined ? bySecret : check(app, assertion)
    return { app, hasProof: first !== undefined || assertion !== undefined, authenticated }
  })
