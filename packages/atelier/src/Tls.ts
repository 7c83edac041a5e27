/** TLS of the standalone server: its certificates, and what clients must show. */
import { type Configuration, type Flag, valueOf } from "@atelier/core/deployment"
import { reasonOf } from "@atelier/core/platform"
import { constants, createPrivateKey, X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import {
  createSecureContext,
  getCiphers,
  type SecureContext,
  type SecureContextOptions,
  type SecureVersion,
  type Server,
  type TlsOptions,
  type TLSSocket
} from "node:tls"
import { UsageError } from "./Sources.js"

/** What a client must show: whether it is asked for a certificate, needs one, and whether an authority must have signed it. */
const clientRules = {
  none: { asked: false, needed: false, verified: false },
  request: { asked: true, needed: false, verified: false },
  "require-any": { asked: true, needed: true, verified: false },
  "verify-if-given": { asked: true, needed: false, verified: true },
  "require-and-verify": { asked: true, needed: true, verified: true }
} as const

type ClientRule = (typeof clientRules)[keyof typeof clientRules]

const versions: Readonly<Record<string, SecureVersion>> = { tls12: "TLSv1.2", tls13: "TLSv1.3" }

interface Certificate {
  readonly x509: X509Certificate
  readonly cert: string
  readonly key: string
}

/** The texts of all files. Two readings of unchanged files are equal. */
interface Loaded {
  readonly certificates: ReadonlyArray<Certificate>
  readonly authorities: string | undefined
}

const nameOf = (configuration: Configuration, flag: Flag): string => configuration.resolved.get(flag)?.name ?? `--${flag}`

/** What `read` makes of a file. Throws `UsageError` with the option and the file. */
const fromFile = <A>(name: string, file: string, read: (text: string) => A): A => {
  try {
    return read(readFileSync(file, "utf8"))
  } catch (error) {
    throw new UsageError(`${name}: ${file} cannot be used: ${reasonOf(error)}`)
  }
}

const load = (configuration: Configuration): Loaded => {
  const [certName, keyName] = [nameOf(configuration, "tls-cert-file"), nameOf(configuration, "tls-key-file")]
  const [certFiles, keyFiles] = [valueOf(configuration, "tls-cert-file"), valueOf(configuration, "tls-key-file")]
  if (certFiles.length === 0) throw new UsageError("--tls-enable needs --tls-cert-file and --tls-key-file")
  if (certFiles.length !== keyFiles.length)
    throw new UsageError(`${certName} and ${keyName} must name as many files: ${certFiles.length} and ${keyFiles.length} are given`)
  const certificates = certFiles.map((certFile, index) => {
    const keyFile = keyFiles[index] ?? ""
    const [cert, x509] = fromFile(certName, certFile, (text) => [text, new X509Certificate(text)] as const)
    const [key, privateKey] = fromFile(keyName, keyFile, (text) => [text, createPrivateKey(text)] as const)
    if (!x509.checkPrivateKey(privateKey)) throw new UsageError(`${keyName}: ${keyFile} is not the key of the certificate in ${certFile}`)
    return { x509, cert, key }
  })
  const authorityFile = valueOf(configuration, "tls-client-ca-file")
  const authorities =
    authorityFile === ""
      ? undefined
      : fromFile(nameOf(configuration, "tls-client-ca-file"), authorityFile, (text) => {
          void new X509Certificate(text)
          return text
        })
  return { certificates, authorities }
}

const sameFiles = (one: Loaded, other: Loaded): boolean =>
  one.authorities === other.authorities &&
  one.certificates.every(({ cert, key }, index) => cert === other.certificates[index]?.cert && key === other.certificates[index]?.key)

const clientRuleOf = (configuration: Configuration): ClientRule => {
  const name = nameOf(configuration, "tls-client-auth")
  const text = valueOf(configuration, "tls-client-auth")
  const rule = Object.entries(clientRules).find(([one]) => one === text.toLowerCase())?.[1]
  if (rule === undefined) throw new UsageError(`${name} must be one of ${Object.keys(clientRules).join(", ")}, not ${JSON.stringify(text)}`)
  const hasAuthorities = valueOf(configuration, "tls-client-ca-file") !== ""
  if (rule.verified && !hasAuthorities) throw new UsageError(`${name} ${text} needs --tls-client-ca-file`)
  if (hasAuthorities && !rule.verified)
    throw new UsageError(
      `${nameOf(configuration, "tls-client-ca-file")} needs --tls-client-auth verify-if-given or require-and-verify: certificates are not checked otherwise`
    )
  return rule
}

const minimumVersion = (configuration: Configuration): SecureVersion => {
  const text = valueOf(configuration, "tls-min-version")
  const version = versions[text.toLowerCase()]
  if (version !== undefined) return version
  throw new UsageError(
    `${nameOf(configuration, "tls-min-version")} must be tls12 or tls13, not ${JSON.stringify(text)}: older ones are insecure`
  )
}

/** OpenSSL's name of a cipher suite below TLS 1.3, from the name that IANA lists. */
const opensslName = (name: string): string =>
  name
    .replace(/^TLS_(?:RSA_(?=WITH))?/, "")
    .replace(/_?WITH_/, "-")
    .replace(/^-/, "")
    .replace(/AES_(\d+)_CBC/, "AES$1")
    .replace(/AES_(\d+)/, "AES$1")
    .replace(/CHACHA20_POLY1305_SHA256$/, "CHACHA20_POLY1305")
    .replaceAll("_", "-")

/** Suites with an ephemeral key, and with authenticated encryption or AES. */
const isStrong = (name: string): boolean => /^ECDHE-(?:ECDSA|RSA)-(?:AES\d+-(?:GCM-SHA\d+|SHA)|CHACHA20-POLY1305)$/.test(name)

const ciphersOf = (configuration: Configuration): string | undefined => {
  const name = nameOf(configuration, "tls-ciphers")
  const known = new Set(getCiphers().map((cipher) => cipher.toUpperCase()))
  const suites = valueOf(configuration, "tls-ciphers").map((text) => {
    const suite = opensslName(text.toUpperCase())
    if (!known.has(suite)) throw new UsageError(`${name}: this runtime has no cipher suite ${JSON.stringify(text)} below TLS 1.3`)
    if (!isStrong(suite) && !valueOf(configuration, "tls-allow-insecure-ciphers"))
      throw new UsageError(`${name}: ${text} is insecure; --tls-allow-insecure-ciphers allows it`)
    return suite
  })
  return suites.length === 0 ? undefined : suites.join(":")
}

/** A server's TLS. */
export interface Tls {
  readonly options: TlsOptions
  /** Refuses the server's clients that do not show what they must. */
  readonly guard: (server: Server) => void
  /** Gives the server's next connections the files as they are now; returns whether they have changed. Throws `UsageError`, and changes nothing, if they cannot be used. */
  readonly reload: (server: Pick<Server, "setSecureContext">) => boolean
}

/** The TLS that options ask for; undefined where it is off. Throws `UsageError` for options and files that cannot be used. */
export const tlsOf = (configuration: Configuration): Tls | undefined => {
  if (!valueOf(configuration, "tls-enable")) return undefined
  const rule = clientRuleOf(configuration)
  const [minVersion, ciphers] = [minimumVersion(configuration), ciphersOf(configuration)]

  const contextOptions = ({ cert, key }: Certificate, authorities: string | undefined): SecureContextOptions => ({
    cert,
    key,
    minVersion,
    ...(ciphers === undefined ? {} : { ciphers }),
    ...(authorities === undefined ? {} : { ca: authorities }),
    // A resumed session would outlive a change of the authorities
    ...(rule.asked ? { secureOptions: constants.SSL_OP_NO_TICKET } : {})
  })
  const contextsOf = ({ authorities, certificates }: Loaded) => {
    const all = certificates.map((certificate) => {
      const options = contextOptions(certificate, authorities)
      return { x509: certificate.x509, options, context: createSecureContext(options) }
    })
    const [first] = all
    if (first === undefined) throw new UsageError("--tls-enable needs --tls-cert-file and --tls-key-file")
    return { all, first }
  }
  let loaded = load(configuration)
  let contexts = contextsOf(loaded)

  const choose = (host: string, done: (error: Error | null, context?: SecureContext) => void): void =>
    done(null, (contexts.all.find(({ x509 }) => x509.checkHost(host) !== undefined) ?? contexts.first).context)
  const isWelcome = (socket: TLSSocket): boolean => {
    const hasCertificate = socket.getPeerX509Certificate() !== undefined
    return hasCertificate ? !rule.verified || socket.authorized : !rule.needed
  }

  return {
    options: { ...contexts.first.options, SNICallback: choose, requestCert: rule.asked, rejectUnauthorized: rule.needed && rule.verified },
    guard: (server) => {
      if (!rule.asked) return
      // Before the listener that reads requests
      server.prependListener("secureConnection", (socket) => {
        if (!isWelcome(socket)) socket.destroy()
      })
    },
    reload: (server) => {
      const next = load(configuration)
      if (sameFiles(next, loaded)) return false
      contexts = contextsOf(next)
      loaded = next
      server.setSecureContext(contexts.first.options)
      return true
    }
  }
}
