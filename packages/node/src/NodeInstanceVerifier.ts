/** Verifies that agents run on instances of clouds. agents-and-apps.md §2. */
import { InstanceVerifier } from "@atelier/core/agents"
import { existing } from "@atelier/core/platform"
import { type Layer } from "effect"
import { type JSONWebKeySet, createLocalJWKSet } from "jose"
import { rootCertificates } from "node:tls"
import { awsVerifier } from "./instanceIdentity/aws.js"
import { awsPublicKeys } from "./instanceIdentity/awsPublicKeys.js"
import { azureVerifier, fetchCertificate } from "./instanceIdentity/azure.js"
import { googleKeys, googleVerifier } from "./instanceIdentity/google.js"

/** Whose signatures count. Each may be left out: then the clouds' own do. */
export interface InstanceAuthorities {
  /** Keys of Amazon: SubjectPublicKeyInfo in Base64. */
  readonly awsPublicKeys?: ReadonlyArray<string>
  /** Root certificates for Azure, in PEM; those that Node trusts unless given. */
  readonly azureRoots?: ReadonlyArray<string>
  /** Certificates between Azure's and the roots, in PEM. Others are read where Azure's certificates say. */
  readonly azureIntermediates?: ReadonlyArray<string>
  /** Reads the certificate of an issuer in place of the Internet. */
  readonly fetchIssuer?: (url: URL, signal: AbortSignal) => Promise<Buffer>
  /** Keys of Google; those that it publishes unless given. */
  readonly googleKeys?: JSONWebKeySet
}

/** A verifier that is made when it is used first: few deployments have instances of clouds, and each start would read the clouds' keys. */
const onFirstUse = <Input, Output>(make: () => (input: Input) => Output): ((input: Input) => Output) => {
  let made: ((input: Input) => Output) | undefined
  return (input) => (made ??= make())(input)
}

/** Fails at once for a key of the host that cannot be read. */
export const layer = (given: InstanceAuthorities = {}): Layer.Layer<never> =>
  existing(InstanceVerifier, {
    aws: given.awsPublicKeys === undefined ? onFirstUse(() => awsVerifier(Object.values(awsPublicKeys))) : awsVerifier(given.awsPublicKeys),
    azure: onFirstUse(() =>
      azureVerifier({
        roots: given.azureRoots ?? rootCertificates,
        intermediates: given.azureIntermediates ?? [],
        fetchIssuer: given.fetchIssuer ?? fetchCertificate
      })
    ),
    google:
      given.googleKeys === undefined ? onFirstUse(() => googleVerifier(googleKeys())) : googleVerifier(createLocalJWKSet(given.googleKeys))
  })
