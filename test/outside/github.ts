/** What a login asks of GitHub, as GitHub answers it, on a free port. */
import { createHash } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"

export const githubClient = { oauth2GithubClientId: "atelier", oauth2GithubClientSecret: "a secret of the client" }

/** A user of GitHub. */
export interface GitHubPerson {
  readonly id: number
  readonly login: string
  readonly name?: string | null
  readonly avatar_url?: string
  readonly emails: ReadonlyArray<{ readonly email: string; readonly primary: boolean; readonly verified: boolean }>
  /** Names of organizations, and whether the membership is active. */
  readonly organizations?: Readonly<Record<string, "active" | "pending">>
  /** `org/slug`. */
  readonly teams?: ReadonlyArray<string>
}

export interface GitHubServer {
  readonly url: string
  readonly requests: Array<string>
  /** Who sits before the browser. */
  person: GitHubPerson
  /** What the next device that asks is told instead. */
  deviceError: string | undefined
  /** Whether the person has entered the code that a device shows. */
  isAllowed: boolean
  readonly close: () => Promise<void>
}

const challengeOf = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url")

export const startGitHub = async (person: GitHubPerson): Promise<GitHubServer> => {
  /** By code: the challenge that it was asked for with. */
  const codes = new Map<string, { readonly challenge: string; readonly redirectUri: string }>()
  const requests: Array<string> = []

  const grant = (form: URLSearchParams): object => {
    if (
      form.get("client_id") !== githubClient.oauth2GithubClientId ||
      form.get("client_secret") !== githubClient.oauth2GithubClientSecret
    ) {
      return { error: "incorrect_client_credentials" }
    }
    const granted = { access_token: "gho_token", token_type: "bearer", scope: "read:user" }
    switch (form.get("grant_type")) {
      case "authorization_code": {
        const code = codes.get(form.get("code") ?? "")
        codes.delete(form.get("code") ?? "")
        const isRight = code?.challenge === challengeOf(form.get("code_verifier") ?? "") && code.redirectUri === form.get("redirect_uri")
        return isRight ? granted : { error: "bad_verification_code", error_description: "The code is incorrect or expired." }
      }
      case "urn:ietf:params:oauth:grant-type:device_code":
        if (form.get("device_code") !== "device") return { error: "incorrect_device_code" }
        if (self.deviceError !== undefined) {
          const error = self.deviceError
          self.deviceError = undefined
          return { error }
        }
        return self.isAllowed ? granted : { error: "authorization_pending" }
      default:
        return { error: "unsupported_grant_type" }
    }
  }

  /** A page of a list: every list is longer than one. */
  const page = (url: URL, items: ReadonlyArray<object>): ReadonlyArray<object> => {
    const size = Number(url.searchParams.get("per_page"))
    const from = (Number(url.searchParams.get("page")) - 1) * size
    return [...items].slice(from, from + size)
  }

  const answer = async (request: IncomingMessage, url: URL): Promise<object | undefined> => {
    const { person } = self
    if (request.method === "POST" && url.pathname === "/login/oauth/access_token") return grant(new URLSearchParams(await text(request)))
    if (request.method === "POST" && url.pathname === "/login/device/code") {
      return { device_code: "device", user_code: "ABCD-1234", verification_uri: `${self.url}/login/device`, expires_in: 900, interval: 5 }
    }
    if (request.headers.authorization !== "Bearer gho_token") return undefined
    switch (url.pathname) {
      case "/api/v3/user":
        return { id: person.id, login: person.login, name: person.name ?? null, avatar_url: person.avatar_url ?? "" }
      case "/api/v3/user/emails":
        return page(url, person.emails)
      case "/api/v3/user/memberships/orgs":
        return page(
          url,
          Object.entries(person.organizations ?? {}).map(([login, state]) => ({ state, organization: { login } }))
        )
      case "/api/v3/user/teams":
        return page(
          url,
          (person.teams ?? []).map((team) => ({ slug: team.split("/")[1], organization: { login: team.split("/")[0] } }))
        )
      default:
        return undefined
    }
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://github")
    requests.push(`${request.method} ${url.pathname}`)
    if (url.pathname === "/login/oauth/authorize") {
      const redirectUri = url.searchParams.get("redirect_uri") ?? ""
      const code = `code-${codes.size}-${Math.trunc(performance.now() * 1000)}`
      codes.set(code, { challenge: url.searchParams.get("code_challenge") ?? "", redirectUri })
      response
        .writeHead(302, { location: `${redirectUri}?${new URLSearchParams({ code, state: url.searchParams.get("state") ?? "" })}` })
        .end()
      return
    }
    void answer(request, url).then((body) =>
      response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}))
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  const self: GitHubServer = {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    person,
    deviceError: undefined,
    isAllowed: false,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
  return self
}
