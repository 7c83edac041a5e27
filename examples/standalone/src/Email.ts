import type { Flag, ValueOf } from "@atelier/core/deployment"
import type { SmtpMailer } from "@atelier/node"
import { Redacted } from "effect"

/** Reads how mail is sent. `file` returns the content of the file that an option names, or nothing without one. */
export const emailOptions = (
  of: <F extends Flag>(flag: F) => ValueOf<F>,
  file: (flag: "email-auth-password-file" | "email-tls-ca-cert-file" | "email-tls-cert-file" | "email-tls-cert-key-file") => string
): SmtpMailer.EmailOptions | undefined => {
  const smarthost = of("email-smarthost")
  if (smarthost === "") return undefined
  const username = of("email-auth-username")
  const password = file("email-auth-password-file").trimEnd() || of("email-auth-password")
  const serverName = of("email-tls-server-name")
  /** Undefined where no file is named; one that is empty is refused with the options. */
  const pem = (flag: "email-tls-ca-cert-file" | "email-tls-cert-file" | "email-tls-cert-key-file"): string | undefined =>
    of(flag) === "" ? undefined : file(flag)
  const ca = pem("email-tls-ca-cert-file")
  const cert = pem("email-tls-cert-file")
  const key = pem("email-tls-cert-key-file")
  return {
    smarthost,
    from: of("email-from"),
    hello: of("email-hello"),
    force_tls: of("email-force-tls"),
    tls: {
      start_tls: of("email-tls-starttls"),
      insecure_skip_verify: of("email-tls-skip-verify"),
      ...(serverName === "" ? {} : { server_name: serverName }),
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key: Redacted.make(key) })
    },
    ...(username === "" ? {} : { auth: { username, identity: of("email-auth-identity"), password: Redacted.make(password) } })
  }
}
