/** A mail server that keeps what it is sent. */
import { SMTPServer, type SMTPServerOptions } from "smtp-server"

/** A certificate of `mail.example.com` that vouches for itself, and its key. */
export const certificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBqjCCAVCgAwIBAgIUHrlyjO2nhj8RIWjnz6wfCoEXgp0wCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQbWFpbC5leGFtcGxlLmNvbTAgFw0yNjExMjExNzQxMjFaGA8y
MTI2MTAyODE3NDEyMVowGzEZMBcGA1UEAwwQbWFpbC5leGFtcGxlLmNvbTBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABIrapkvUKztefgKItSPB2Nt+C1zGlnUlfRfp
wQbcYtw/0zOOm2U6+g23kZtT+sCtEyZR8/enLA8P9trKrr+Z/K2jcDBuMB0GA1Ud
DgQWBBQk7QuEzFnLjCQ0oEnNj9kYqiFUqzAfBgNVHSMEGDAWgBQk7QuEzFnLjCQ0
oEnNj9kYqiFUqzAPBgNVHRMBAf8EBTADAQH/MBsGA1UdEQQUMBKCEG1haWwuZXhh
bXBsZS5jb20wCgYIKoZIzj0EAwIDSAAwRQIgBkmI18egRQN/z+TrLuTYlVLS7jki
eMZ8sMzmXvobqN8CIQD6+hFB/8cRT7AB7JI7TForleHiHuDe6VvjWE6YUILaBQ==
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVkG1dSX7HWv1nhPs
xOkE4BewLuMalcFAj/lCNqq8CfShRANCAASK2qZL1Cs7Xn4CiLUjwdjbfgtcxpZ1
JX0X6cEG3GLcP9MzjptlOvoNt5GbU/rArRMmUfP3pywPD/bayq6/mfyt
-----END PRIVATE KEY-----`
}

export interface ReceivedMail {
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** The message as it was sent. */
  readonly raw: string
  /** Whether it came over TLS, and who authenticated and how. */
  readonly secure: boolean
  readonly user: string | undefined
  readonly greeting: string
}

export interface MailServer {
  readonly smarthost: string
  readonly received: ReadonlyArray<ReceivedMail>
  /** Connections made so far. */
  readonly connections: () => number
  /** The next message for an address; those that came before this call count too, once each. */
  readonly next: (to: string) => Promise<ReceivedMail>
  /** Has the server refuse that many of the next messages, for a while, and say something about each. */
  readonly refuse: (times: number, words?: (raw: string) => string) => void
  readonly close: () => Promise<void>
}

/** The address an envelope names. */
const addressOf = (path: { readonly address: string } | false): string => (path === false ? "" : path.address)

/** A server on a free port; without authentication and STARTTLS unless the options say otherwise. */
export const startMailServer = async (options: SMTPServerOptions = {}): Promise<MailServer> => {
  const received: Array<ReceivedMail> = []
  const taken = new Set<ReceivedMail>()
  const waiting = new Set<() => void>()
  let refusals = 0
  const tryAgain = (): string => "try again"
  let wordsOfRefusal: (raw: string) => string = tryAgain
  let connections = 0
  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    // Milliseconds that `close` waits for clients to go
    closeTimeout: 50,
    ...certificate,
    ...options,
    onConnect: (_session, callback) => {
      connections++
      callback()
    },
    onData: (stream, session, callback) => {
      const chunks: Array<Buffer> = []
      stream.on("data", (chunk: Buffer) => chunks.push(chunk))
      stream.on("end", () => {
        const raw = Buffer.concat(chunks).toString()
        if (refusals > 0) {
          refusals--
          return callback(Object.assign(new Error(wordsOfRefusal(raw)), { responseCode: 451 }))
        }
        received.push({
          from: addressOf(session.envelope.mailFrom),
          to: session.envelope.rcptTo.map(addressOf),
          raw,
          secure: session.secure,
          user: session.user,
          greeting: session.hostNameAppearsAs
        })
        callback()
        for (const wake of waiting) wake()
      })
    }
  })
  // A client that goes is no failure of the test
  server.on("error", () => undefined)
  const port = await new Promise<number>((resolve) => {
    const listening = server.listen(0, "127.0.0.1", () => {
      const address = listening.address()
      if (address !== null && typeof address === "object") resolve(address.port)
    })
  })
  const find = (to: string) => received.find((mail) => !taken.has(mail) && mail.to.includes(to))
  return {
    smarthost: `127.0.0.1:${port}`,
    received,
    connections: () => connections,
    next: (to) =>
      new Promise((resolve) => {
        const look = (): void => {
          const mail = find(to)
          if (mail === undefined) return
          taken.add(mail)
          waiting.delete(look)
          resolve(mail)
        }
        waiting.add(look)
        look()
      }),
    refuse: (times, words = tryAgain) => {
      refusals = times
      wordsOfRefusal = words
    },
    close: () => new Promise((resolve) => server.close(resolve))
  }
}
