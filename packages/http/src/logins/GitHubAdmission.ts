/** Which accounts of GitHub may log in: those of organizations and teams, or all. identity.md §7.2. */
import type { Options } from "@atelier/core/deployment"
import type { ProviderFailure } from "@atelier/core/identity"
import { StartError, Unauthenticated } from "@atelier/core/platform"
import { Effect } from "effect"
import { type GitHubApi, Memberships, Teams } from "./GitHubApi.js"
import { listedValues } from "./listedValues.js"

type AdmissionOptions = Pick<Options, "oauth2GithubAllowEveryone" | "oauth2GithubAllowedOrgs" | "oauth2GithubAllowedTeams">

interface Team {
  readonly organization: string
  readonly slug: string
}

const parseTeam = (text: string): Team => {
  const [organization = "", slug = "", ...more] = text.toLowerCase().split("/")
  if (organization === "" || slug === "" || more.length > 0)
    throw new StartError({ option: "options.oauth2GithubAllowedTeams", value: text, reason: "must be org/team-slug" })
  return { organization, slug }
}

const notAdmitted = new Unauthenticated({
  message: "You are not in a GitHub organization or team that may log in."
})

interface Admission {
  readonly admitsAll: boolean
  readonly organizations: ReadonlySet<string>
  readonly teams: ReadonlyArray<Team>
}

/** Reads which accounts are admitted. Throws `StartError` for options that admit no user, or contradict each other. */
export const admissionOf = (options: AdmissionOptions): Admission => {
  const { oauth2GithubAllowEveryone: admitsAll } = options
  const allowed_orgs = listedValues(options.oauth2GithubAllowedOrgs)
  const allowed_teams = listedValues(options.oauth2GithubAllowedTeams)
  if (admitsAll && allowed_orgs.length + allowed_teams.length > 0) {
    throw new StartError({
      option: "options.oauth2GithubAllowEveryone",
      reason: "cannot be set together with oauth2GithubAllowedOrgs or oauth2GithubAllowedTeams"
    })
  }
  if (!admitsAll && allowed_orgs.length === 0)
    throw new StartError({
      option: "options.oauth2GithubAllowedOrgs",
      reason: "must name an organization, unless oauth2GithubAllowEveryone is set"
    })
  return { admitsAll, organizations: new Set(allowed_orgs.map((name) => name.toLowerCase())), teams: allowed_teams.map(parseTeam) }
}

/** Fails with `Unauthenticated` if the user is in none of the allowed organizations and teams. */
export const requireAdmitted = (
  { admitsAll, organizations, teams }: Admission,
  { list }: GitHubApi,
  token: string
): Effect.Effect<void, ProviderFailure | Unauthenticated> =>
  Effect.gen(function* () {
    if (admitsAll) return
    const memberships = yield* list("/user/memberships/orgs?state=active", Memberships, token)
    const matched = memberships
      .filter(({ organization, state }) => state === "active" && organizations.has(organization.login.toLowerCase()))
      .map(({ organization }) => organization.login.toLowerCase())
    if (matched.length === 0) return yield* notAdmitted
    if (teams.length === 0) return
    const found = yield* list("/user/teams", Teams, token)
    const isMember = found.some(({ organization: { login }, slug }) => {
      const organization = login.toLowerCase()
      return matched.includes(organization) && teams.some((team) => team.organization === organization && team.slug === slug.toLowerCase())
    })
    if (!isMember) return yield* notAdmitted
  })
