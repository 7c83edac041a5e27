import type { SmtpMailer } from "@atelier/node"
import { Redacted } from "effect"

/** How mail is sent, in the order `--help` shows it. */
export const emailDeclarations = {
  "email-smarthost": {
    default: "",
    value: "HOST:PORT",
    help: "the server that sends mail, such as one-time passcodes; default: no mail"
  },
  "email-from": { default: "", value: "ADDRESS", help: 'the sender: atelier@example.com, or "Atelier <atelier@example.com>"' },
  "email-hello": { default: "localhost", value: "NAME", help: "this host's name in the greeting of the mail server" },
  "email-force-tls": { default: "false", value: "", help: "speak TLS to the mail server from the first byte, which port 465 always does" },
  "email-tls-starttls": { default: "false", value: "", help: "upgrade connections to the mail server with STARTTLS, or send nothing" },
  "email-tls-server-name": { default: "", value: "NAME", help: "the name in the mail server's certificate; default: its host" },
  "email-tls-skip-verify": { default: "false", value: "", help: "do not check the mail server's certificate" },
  "email-tls-ca-cert-file": { default: "", value: "FILE", help: "the authorities that the mail server's certificate is checked against" },
  "email-tls-cert-file": { default: "", value: "FILE", help: "the certificate to show to the mail server" },
  "email-tls-cert-key-file": { default: "", value: "FILE", help: "the key of that certificate" },
  "email-auth-identity": { default: "", value: "NAME", help: "the authorization identity for the mail server" },
  "email-auth-username": { default: "", value: "NAME", help: "the username for the mail server" },
  "email-auth-password": { default: "", value: "PASSWORD", help: "the password for the mail server; give it in the variable or in a file" },
  "email-auth-password-file": { default: "", value: "FILE", help: "a file with the password" }
} as const

type Name = keyof typeof emailDeclarations

/** Reads the options. `file` returns the content of the file that an option names, or nothing without one. */
export const emailOptions = (
  text: (name: Name) => string,
  flag: (name: Name) => boolean,
  file: (name: Name) => string
): SmtpMailer.EmailOptions | undefined => {
  const smarthost = text("email-smarthost")
  if (smarthost === "") return undefined
  const username = text("email-auth-username")
  const password = file("email-auth-password-file").trimEnd() || text("email-auth-password")
  const serverName = text("email-tls-server-name")
  /** Undefined where no file is named; one that is empty is refused with the options. */
  const pem = (name: Name): string | undefined => (text(name) === "" ? undefined : file(name))
  const ca = pem("email-tls-ca-cert-file")
  const cert = pem("email-tls-cert-file")
  const key = pem("email-tls-cert-key-file")
  return {
    smarthost,
    from: text("email-from"),
    hello: text("email-hello"),
    force_tls: flag("email-force-tls"),
    tls: {
      start_tls: flag("email-tls-starttls"),
      insecure_skip_verify: flag("email-tls-skip-verify"),
      ...(serverName === "" ? {} : { server_name: serverName }),
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key: Redacted.make(key) })
    },
    ...(username === "" ? {} : { auth: { username, identity: text("email-auth-identity"), password: Redacted.make(password) } })
  }
}
