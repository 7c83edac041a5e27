/** Node's `createRequire`, which finds the files of packages that a bundled program at `base` has beside it. */
export declare const createRequireBeside: (base: string) => (from: string) => NodeJS.Require
