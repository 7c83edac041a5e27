export interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export interface MissingPackage {
  /** The entry that asks for the package. */
  readonly from: string
  readonly name: string
  readonly range: string
}

/** Lists the entries of a lock file that are installed with some of its packages, in order; optional peers count where they are installed. */
export declare const reachablePackages: (lock: LockFile, from: ReadonlyArray<string>) => ReadonlyArray<string>

export declare const missingPackages: (lock: LockFile) => ReadonlyArray<MissingPackage>
