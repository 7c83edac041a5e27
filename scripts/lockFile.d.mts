export interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
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

export declare const missingPackages: (lock: LockFile) => ReadonlyArray<MissingPackage>
