import { isPublicAddress, Unauthenticated } from "@atelier/core/platform"
import { Clock, Effect, Option, Schema } from "effect"
import { X509Certificate } from "node:crypto"
import { request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { guardedLookup } from "../guardedLookup.js"

const Content = Schema.parseJson(Schema.Struct({ vmId: Schema.NonEmptyString }))

/** The common names of the machines that sign. */
const signerName = /^(?:.*\.)?metadata\.(?:azure\.(?:com|us|cn)|microsoftazure\.de)$/

/** Bytes of a message. */
const maximumMessage = 64 * 1024

/** Certificates between the signer's and the root's, at most. */
const maximumDepth = 5

/** Hosts that publish the certificates of Azure's authorities. */
const issuerHosts = new Set(["www.microsoft.com", "cacerts.digicert.com"])

/** Milliseconds in which all of them have to come. */
const fetchWithin = 5_000

/** Bytes of one of them. */
const maximumCertificate = 1024 * 1024

const refused = new Unauthenticated({
  message: "The identity of the instance cannot be verified.",
  detail: "Azure did not make the signature, or its certificate is not trusted."
})

const isValidAt = ({ validFrom, validTo }: X509Certificate, now: number): boolean =>
  Date.parse(validFrom) <= now && now <= Date.parse(validTo)

const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)

/** Whether a chain of valid certificates leads to a root. */
const isTrusted = (
  certificate: X509Certificate,
  between: ReadonlyArray<X509Certificate>,
  roots: ReadonlyArray<X509Certificate>,
  now: number,
  depth = 0
): boolean => {
  if (!isValidAt(certificate, now) || depth > maximumDepth) return false
  if (roots.some((root) => isValidAt(root, now) && isIssuedBy(certificate, root))) return true
  return between.some(
    (issuer) =>
      issuer !== certificate &&
      isIssuedBy(certificate, issuer) &&
      isTrusted(
        issuer,
        between.filter((other) => other !== issuer),
        roots,
        now,
        depth + 1
      )
  )
}

/** Where a certificate says that its issuer's is, if that may be asked. */
const issuerAddresses = ({ infoAccess = "" }: X509Certificate): ReadonlyArray<URL> =>
  [...infoAccess.matchAll(/^CA Issuers - URI:(.+)$/gm)]
    .flatMap(([, address = ""]) => (URL.canParse(address) ? [new URL(address)] : []))
    .filter(({ hostname, port, protocol }) => /^https?:$/.test(protocol) && issuerHosts.has(hostname) && /^(?:80|443)?$/.test(port))

/** Reads a certificate from an address on the Internet. Follows no redirects. */
export const fetchCertificate = (url: URL, signal: AbortSignal): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const asked = (url.protocol === "https:" ? requestHttps : requestHttp)(
      url,
      { agent: false, lookup: guardedLookup(isPublicAddress), signal },
      (response) => {
        const chunks: Array<Buffer> = []
        let size = 0
        response.on("error", reject)
        response.on("end", () =>
          response.statusCode === 200 ? resolve(Buffer.concat(chunks)) : reject(new Error("there is no certificate"))
        )
        response.on("data", (chunk: Buffer) => {
          size += chunk.length
          if (size > maximumCertificate) response.destroy(new Error("the certificate is too large"))
          else chunks.push(chunk)
        })
      }
    )
    asked.on("error", reject)
    asked.end()
  })

export interface AzureAuthorities {
  /** In PEM. */
  readonly roots: ReadonlyArray<string>
  /** In PEM, beside those that come with a message and those that its certificates name. */
  readonly intermediates: ReadonlyArray<string>
  readonly fetchIssuer: (url: URL, signal: AbortSignal) => Promise<Buffer>
}

/** Verifies the signed messages of machines. */
export const azureVerifier = ({ fetchIssuer, intermediates, roots }: AzureAuthorities) => {
  const certificates = (texts: ReadonlyArray<string>) => texts.map((text) => new X509Certificate(text))
  let read: { readonly roots: ReadonlyArray<X509Certificate>; readonly between: ReadonlyArray<X509Certificate> } | undefined
  // The system has about 150 roots: they are read once, and only where Azure is used
  const known = () => (read ??= { roots: certificates(roots), between: certificates(intermediates) })

  const issuersOf = (certificate: X509Certificate): Effect.Effect<ReadonlyArray<X509Certificate>> => {
    const signal = AbortSignal.timeout(fetchWithin)
    return Effect.forEach(
      issuerAddresses(certificate),
      (url) => Effect.option(Effect.tryPromise(async () => new X509Certificate(await fetchIssuer(url, signal)))),
      { concurrency: 4 }
    ).pipe(Effect.map((found) => found.flatMap(Option.toArray)))
  }

  return ({ signature }: { readonly signature: string }): Effect.Effect<string, Unauthenticated> =>
    Effect.gen(function* () {
      if (signature.length > maximumMessage) return yield* refused
      // Loaded with the first message: few deployments have instances on Azure, and the library for ASN.1 is large
      const { readSignedMessage } = yield* Effect.promise(() => import("./SignedMessage.js"))
      const { content, others, signer } = yield* Effect.try({
        try: () => readSignedMessage(Buffer.from(signature, "base64")),
        catch: () => refused
      })
      const name = signer.toLegacyObject().subject.CN
      if (typeof name !== "string" || !signerName.test(name)) return yield* refused
      const now = yield* Clock.currentTimeMillis
      const { between, roots: trusted } = known()
      const near = [...others, ...between]
      const isKnown = isTrusted(signer, near, trusted, now)
      if (!isKnown && !isTrusted(signer, [...near, ...(yield* issuersOf(signer))], trusted, now)) return yield* refused
      const read = Schema.decodeOption(Content)(content.toString())
      return Option.isNone(read) ? yield* refused : read.value.vmId
    })
}
