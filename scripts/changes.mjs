// The changes since the last version: what they raise the version to, and how the changelog tells of them. The files have the form of changesets.

/** From the least to the greatest. */
export const bumps = ["patch", "minor", "major"]

/** What a file of `.changeset` says. All packages have one version, so the packages only tell readers where the change is. */
export const parseChange = (name, text, packages) => {
  const [, head, body] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? []
  if (head === undefined) throw new Error(`${name}: begins with lines such as "@atelier/http": minor between two lines of ---`)
  const bumpOf = new Map(
    head.split("\n").map((line) => {
      const [, package_, bump] = /^"([^"]+)": (\w+)$/.exec(line) ?? []
      if (package_ === undefined) throw new Error(`${name}: ${line}: is not of the form "@atelier/http": minor`)
      if (!packages.includes(package_)) throw new Error(`${name}: ${package_}: is not a package`)
      if (!bumps.includes(bump)) throw new Error(`${name}: ${bump}: must be one of ${bumps.join(", ")}`)
      return [package_, bump]
    })
  )
  const words = body.trim()
  if (words === "") throw new Error(`${name}: says nothing`)
  return { packages: [...bumpOf.keys()], bump: bumps.findLast((one) => [...bumpOf.values()].includes(one)), words }
}

/** The version after some changes. Before 1.0.0, what breaks users raises the minor version. */
export const nextVersion = (version, changes) => {
  const [major, minor, patch] = version.split(".").map(Number)
  const bump = bumps.findLast((one) => changes.some((change) => change.bump === one))
  if (bump === undefined) throw new Error("There is no change to make a version of.")
  if (bump === "patch") return `${major}.${minor}.${patch + 1}`
  return bump === "minor" || major === 0 ? `${major}.${minor + 1}.0` : `${major + 1}.0.0`
}

const unreleased = (version) => `## ${version} (not released)`

/** Whether the changelog has a version that no registry has yet: changes belong to it. */
export const isUnreleased = (changelog, version) => changelog.includes(`${unreleased(version)}\n`)

const headings = { major: "Breaking changes", minor: "Additions", patch: "Repairs" }

const itemOf = ({ packages, words }) => `- ${packages.map((name) => `\`${name}\``).join(", ")}: ${words.replaceAll("\n", "\n  ")}`

/** The changelog with a section of the version, dated, on top of the former ones. */
export const changelogWith = (changelog, version, date, changes) => {
  const sections = bumps.toReversed().flatMap((bump) => {
    const items = changes.filter((change) => change.bump === bump).map(itemOf)
    return items.length === 0 ? [] : [`### ${headings[bump]}\n\n${items.join("\n")}`]
  })
  const title = `## ${version} (${date})`
  const at = changelog.search(/^## /m)
  const end = at === -1 ? changelog.length : at
  if (!isUnreleased(changelog, version)) return `${changelog.slice(0, end)}${[title, ...sections].join("\n\n")}\n\n${changelog.slice(end)}`
  const [before, after] = changelog.split(`${unreleased(version)}\n`)
  const next = after.search(/^## /m)
  const [own, former] = next === -1 ? [after, ""] : [after.slice(0, next), `\n${after.slice(next)}`]
  return `${before}${[`${title}\n${own.trimEnd()}`, ...sections].join("\n\n")}\n${former}`
}
