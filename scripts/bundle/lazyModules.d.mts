/** Returns a script that evaluates each module whose path `isOwn` takes with the first use of one of its names. */
export declare const withLazyModules: (source: string, isOwn: (path: string) => boolean) => string
