/** The names of the packages, without their scope. */
export declare const packages: ReadonlyArray<string>
/** The public names of a package, by entry point, each with its kinds. */
export declare const reportOf: (name: string) => Promise<string>
/** The file of a package's report. */
export declare const reportFile: (name: string) => string
