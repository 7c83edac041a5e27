/** Certificates for tests. */
import * as x509 from "@peculiar/x509"
import { X509Certificate } from "node:crypto"
import { isIP } from "node:net"

/** A certificate and its key, in PEM. */
export interface Pair {
  readonly cert: string
  readonly key: string
  readonly keys: CryptoKeyPair
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" }

/** A certificate for a host or a client, which vouches for itself unless an authority signs it. */
export const pairOf = async (host: string, issuer?: Pair): Promise<Pair> => {
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"])
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: Buffer.from(host).toString("hex"),
      subject: `CN=${host}`,
      issuer: issuer === undefined ? `CN=${host}` : new X509Certificate(issuer.cert).subject,
      notBefore: new Date(Date.now() - 3_600_000),
      notAfter: new Date(Date.now() + 3_600_000),
      publicKey: keys.publicKey,
      signingKey: (issuer?.keys ?? keys).privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(issuer === undefined, undefined, true),
        new x509.SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? "dns" : "ip", value: host }])
      ]
    },
    crypto
  )
  const key = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64")
  return { cert: certificate.toString("pem"), key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`, keys }
}
