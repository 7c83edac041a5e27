/** A real OpenID Connect provider on a free port, for tests of logins. */
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from "jose"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import Provider, { type AccountClaims, type Configuration } from "oidc-provider"
import type { Browser, Page } from "./browser.js"

export const clientId = "atelier"
export const clientSecret = "a secret of the client"

/** A user of the provider: the claims of each source. */
export interface ProviderAccount {
  readonly id_token: Readonly<Record<string, unknown>>
  readonly userinfo: Readonly<Record<string, unknown>>
}

/** What the token endpoint answers. */
export type TokenAnswer = Record<string, unknown>

export interface OidcServer {
  readonly issuer: string
  /** By `sub`. A browser says with the header `x-account` who sits before it. */
  readonly accounts: Map<string, ProviderAccount>
  /** Paths that were asked for, with their methods, in their order. */
  readonly requests: Array<string>
  /** Changes what the token endpoint answers; undefined answers what the provider does. */
  answer: ((answer: TokenAnswer) => Promise<TokenAnswer> | TokenAnswer) | undefined
  /** Answers a path with this status and body instead. */
  readonly broken: Map<string, { readonly status: number; readonly body: string }>
  /** Replaces the keys that the provider signs with. */
  readonly rotateKeys: () => Promise<void>
  /** An ID token as the provider would sign it: with its present key, unless it is given another one. */
  readonly sign: (claims: Record<string, unknown>, key?: JWK) => Promise<string>
  /** Forgets accounts, requests, and what was changed of the answers. */
  readonly reset: () => void
  readonly close: () => Promise<void>
}

export const aSigningKey = async (kid: string): Promise<JWK> => {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true })
  return { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" }
}

/** Making a key takes a fifth of a second of the processor; the providers of a process begin with the same one. */
let firstKey: Promise<JWK> | undefined

export interface OidcServerOptions {
  readonly redirectUris: ReadonlyArray<string>
  readonly configuration?: Configuration
}

export const startOidc = async ({ configuration = {}, redirectUris }: OidcServerOptions): Promise<OidcServer> => {
  const accounts = new Map<string, ProviderAccount>()
  const requests: Array<string> = []
  const broken: OidcServer["broken"] = new Map()
  let generation = 0
  let key = await (firstKey ??= aSigningKey("key-0"))
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://provider").pathname
    requests.push(`${request.method} ${path}`)
    const instead = broken.get(path)
    if (instead === undefined) handle(request, response)
    else response.writeHead(instead.status, { "content-type": "application/json" }).end(instead.body)
  })
  // A busy client may not come back for long to a connection that it keeps
  server.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  const issuer = `http://127.0.0.1:${address.port}`

  const start = (): void => {
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [...redirectUris],
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          token_endpoint_auth_method: [...(configuration.clientAuthMethods ?? [])][0] ?? "client_secret_basic"
        }
      ],
      jwks: { keys: [key] },
      cookies: { keys: ["a key of cookies"] },
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "preferred_username", "picture"] },
      conformIdTokenClaims: false,
      ttl: {
        AccessToken: 3600,
        IdToken: 3600,
        Grant: 86_400,
        Session: 86_400,
        Interaction: 3600,
        RefreshToken: 86_400,
        AuthorizationCode: 60
      },
      issueRefreshToken: () => true,
      rotateRefreshToken: true,
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, sub) => ({
        accountId: sub,
        claims: (use) => {
          const account = accounts.get(sub)
          return { ...(use === "userinfo" ? account?.userinfo : account?.id_token), sub } as AccountClaims
        }
      }),
      loadExistingGrant: async (ctx) => {
        const grant = new ctx.oidc.provider.Grant({ accountId: ctx.oidc.session?.accountId ?? "", clientId })
        grant.addOIDCScope("openid email profile")
        await grant.save()
        return grant
      },
      ...configuration
    })
    provider.use(async (ctx, next) => {
      if (ctx.path.startsWith("/interaction/")) {
        ctx.respond = false
        await provider.interactionFinished(ctx.req, ctx.res, { login: { accountId: ctx.get("x-account") } })
        return
      }
      await next()
      if (ctx.path === "/token" && ctx.status === 200 && self.answer !== undefined)
        ctx.body = await self.answer({ ...ctx.body } as TokenAnswer)
    })
    const listener = provider.callback()
    handle = (request, response) => void listener(request, response)
  }

  const self: OidcServer = {
    issuer,
    accounts,
    requests,
    broken,
    answer: undefined,
    rotateKeys: async () => {
      key = await aSigningKey(`key-${++generation}`)
      start()
    },
    sign: async (claims, other = key) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "RS256", ...(other.kid === undefined ? {} : { kid: other.kid }) })
        .sign(await importJWK(other, "RS256")),
    reset: () => {
      accounts.clear()
      broken.clear()
      requests.length = 0
      self.answer = undefined
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
  start()
  return self
}

/** A user whose two sources have the same claims. */
export const anAccount = (claims: Readonly<Record<string, unknown>>): ProviderAccount => ({ id_token: claims, userinfo: claims })

/** Follows the provider's redirections until it sends the browser elsewhere; answers where to. */
export const throughProvider = async (browser: Browser, issuer: string, start: Page): Promise<string> => {
  let { location } = start
  for (let step = 0; step < 10 && location !== undefined && location.startsWith(issuer); step++) {
    ;({ location } = await browser.visit(location))
  }
  if (location === undefined || location.startsWith(issuer)) throw new Error("the provider did not send the browser back")
  return location
}
