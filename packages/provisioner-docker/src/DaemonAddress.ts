/** Where the Docker daemon is. */
import { Data, Either } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** Certificates of a connection by TLS, in PEM. */
export interface TlsFiles {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

export type DaemonAddress =
  | { readonly _tag: "Socket"; readonly path: string; readonly shown: string }
  | { readonly _tag: "Tcp"; readonly host: string; readonly port: number; readonly tls: TlsFiles | undefined; readonly shown: string }
  | { readonly _tag: "Ssh"; readonly destination: string; readonly port: number | undefined; readonly shown: string }

/** The text names no daemon, or its files cannot be read. */
export class InvalidAddress extends Data.TaggedError("InvalidAddress")<{ readonly message: string }> {}

const defaultSocket = "/var/run/docker.sock"

/** The ports of Docker without and with TLS. */
const plainPort = 2375
const tlsPort = 2376

const invalid = (message: string) => Either.left(new InvalidAddress({ message }))

const readTls = (directory: string): Either.Either<TlsFiles, InvalidAddress> =>
  Either.try({
    try: () => {
      const [ca = "", cert = "", key = ""] = ["ca.pem", "cert.pem", "key.pem"].map((name) => readFileSync(join(directory, name), "utf8"))
      return { ca, cert, key }
    },
    catch: (cause) =>
      new InvalidAddress({ message: `the certificates cannot be read: ${cause instanceof Error ? cause.message : String(cause)}` })
  })

/** A daemon without TLS gives the whole machine to each caller of its port. */
const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127\.(\d+\.){2}\d+$/.test(host)

/**
 * Reads the address of a daemon: `unix:///path`, `tcp://host:port` or `ssh://user@host:port`. `tlsDirectory` holds `ca.pem`, `cert.pem` and `key.pem`, and
 * TCP needs them, except on this machine. Without a text it is the usual socket.
 */
export const parse = (text: string | undefined, tlsDirectory: string | undefined): Either.Either<DaemonAddress, InvalidAddress> => {
  const written = text ?? `unix://${defaultSocket}`
  if (written.startsWith("unix://")) {
    const path = written.slice("unix://".length) || defaultSocket
    return path.startsWith("/")
      ? Either.right({ _tag: "Socket", path, shown: `unix://${path}` })
      : invalid("the path of the socket must be absolute")
  }
  const url = URL.parse(written.replace(/^(?:tcp|https?):/, "http:"))
  if (url === null || !/^(?:tcp|https?|ssh):\/\//.test(written) || url.hostname === "")
    return invalid("must be an address such as unix:///var/run/docker.sock, tcp://host:2376 or ssh://user@host")
  if (url.password !== "" || !["", "/"].includes(url.pathname)) return invalid("must have neither a password nor a path")
  const port = url.port === "" ? undefined : Number(url.port)
  if (url.protocol === "ssh:") {
    const destination = url.username === "" ? url.hostname : `${url.username}@${url.hostname}`
    // `ssh` would take it as an option
    if (destination.startsWith("-")) return invalid("must not begin with a hyphen")
    return Either.right({ _tag: "Ssh", destination, port, shown: `ssh://${destination}` })
  }
  if (tlsDirectory === undefined && !isLoopback(url.hostname))
    return invalid("a daemon of another machine is reached by TLS or SSH: name the directory of the certificates")
  return Either.map(tlsDirectory === undefined ? Either.right(undefined) : readTls(tlsDirectory), (tls) => {
    const at = port ?? (tls === undefined ? plainPort : tlsPort)
    return { _tag: "Tcp" as const, host: url.hostname, port: at, tls, shown: `tcp://${url.hostname}:${at}` }
  })
}
