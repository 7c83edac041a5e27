export type Bump = "patch" | "minor" | "major"

export interface Change {
  readonly packages: ReadonlyArray<string>
  readonly bump: Bump
  readonly words: string
}

export const bumps: ReadonlyArray<Bump>
export const parseChange: (name: string, text: string, packages: ReadonlyArray<string>) => Change
export const nextVersion: (version: string, changes: ReadonlyArray<Pick<Change, "bump">>) => string
export const isUnreleased: (changelog: string, version: string) => boolean
export const changelogWith: (changelog: string, version: string, date: string, changes: ReadonlyArray<Change>) => string
