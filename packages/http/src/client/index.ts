/**
 * The client for Effect applications: one method per endpoint, which takes what the wire takes, decodes the answer, and fails with the same
 * errors as the services. `@atelier/client` is the client for all others.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { Effect, Redacted } from "effect"
import { namesOf } from "../wire/Brand.js"
import { type Compatibility, presentationFor } from "../wire/Compatibility.js"
import { Contract } from "../contract/Contract.js"
import { apiIn } from "../wire/dialect.js"
import { takingWireInputs, type WireClient, withoutRequests } from "./WireInputs.js"

export interface Options {
  /** Where the service is mounted, such as `https://dev.example.com`. */
  readonly baseUrl: string
  /** A session or API token; without it only public endpoints answer. */
  readonly sessionToken?: string | Redacted.Redacted<string>
  /** The deployment's SCIM key, which identity providers manage users with. */
  readonly scimKey?: string | Redacted.Redacted<string>
  /** The ecosystem that the service is compatible with, as its option of that name says. */
  readonly compatibility?: Compatibility
  /** The service's brand; default `Service`, or the word of `compatibility`. */
  readonly brand?: string
}

const plain = (secret: string | Redacted.Redacted<string>): string => (Redacted.isRedacted(secret) ? Redacted.value(secret) : secret)

/** A client on the runtime's `HttpClient`. */
export const make = ({
  baseUrl,
  brand,
  compatibility,
  scimKey,
  sessionToken
}: Options): Effect.Effect<Client, never, HttpClient.HttpClient> => {
  const presentation = presentationFor(compatibility)
  const { sessionHeader } = namesOf(brand ?? presentation.brand)
  const client = HttpApiClient.make(takingWireInputs(apiIn(presentation.wire, Contract)), {
    baseUrl,
    transformClient: HttpClient.mapRequest((request) =>
      HttpClientRequest.setHeaders(request, {
        ...(sessionToken === undefined ? {} : { [sessionHeader]: plain(sessionToken) }),
        ...(scimKey === undefined ? {} : { authorization: `Bearer ${plain(scimKey)}` })
      })
    )
  })
  // The library's type has the inputs that the API decodes
  return Effect.map(client, (operations) => withoutRequests(operations) as Client)
}

/** A client on the platform's `fetch`. */
export const makeFetch = (options: Options) => Effect.provide(make(options), FetchHttpClient.layer)

/** The operations by group. */
export type Client = WireClient<typeof Contract>
