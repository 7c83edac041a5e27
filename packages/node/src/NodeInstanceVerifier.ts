/** Verifies that agents run on instances of clouds. agents-and-apps.md §2. */
import { InstanceVerifier } from "@atelier/core/agents"
import { Layer } from "effect"
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

export const layer = (authorities: InstanceAuthorities = {}): Layer.Layer<never> =>
  Layer.succeed(InstanceVerifier, {
    aws: awsVerifier(authorities.awsPublicKeys ?? Object.values(awsPublicKeys)),
    azure: azureVerifier({
      roots: authorities.azureRoots ?? rootCertificates,
      intermediates: authorities.azureIntermediates ?? [],
      fetchIssuer: authorities.fetchIssuer ?? fetchCertificate
    }),
    google: googleVerifier(authorities.googleKeys === undefined ? googleKeys() : createLocalJWKSet(authorities.googleKeys))
  })
